import { Slider, Stack, Text } from '@mantine/core';
import { type CSSProperties, useState } from 'react';
import classes from './compare.module.css';
import type { Layering } from './layering.ts';
import type { Side } from './side.ts';
import { SideHead } from './side-head.tsx';

interface LayeredProps {
  sides: readonly [Side, Side];
  mode: Layering;
}

/** The styles of both pictures. A wipe clips both, because the right one does not cover a left one of another ratio. */
function stylesOf(mode: Layering, share: number): [left: CSSProperties, right: CSSProperties] {
  if (mode === 'wipe') return [{ clipPath: `inset(0 ${100 - share}% 0 0)` }, { clipPath: `inset(0 0 0 ${share}%)` }];
  return [{}, mode === 'overlay' ? { opacity: share / 100 } : { mixBlendMode: 'difference' }];
}

/** Two layered images, compared by a wipe line, by opacity, or by their difference: black is equal. */
export function Layered({ sides, mode }: LayeredProps) {
  const [left, right] = sides;
  const [share, setShare] = useState(50);
  const [leftStyle, rightStyle] = stylesOf(mode, share);
  return (
    <Stack gap="md">
      <div className={classes.sides}>
        <SideHead side={left} />
        <SideHead side={right} />
      </div>
      <figure className={classes.layers} data-mode={mode}>
        {left.url !== undefined && <img src={left.url} alt={`Left: ${left.file?.name}`} style={leftStyle} />}
        {right.url !== undefined && <img src={right.url} alt={`Right: ${right.file?.name}`} style={rightStyle} />}
        {mode === 'wipe' && <span className={classes.line} style={{ left: `${share}%` }} aria-hidden="true" />}
      </figure>
      {mode !== 'difference' && (
        <div>
          <Text size="sm" mb={4}>
            {mode === 'wipe' ? 'Where the right picture begins' : 'How much of the right picture'}
          </Text>
          <Slider
            thumbLabel={mode === 'wipe' ? 'Where the right picture begins' : 'How much of the right picture'}
            value={share}
            onChange={setShare}
            label={(value) => `${value} %`}
          />
        </div>
      )}
    </Stack>
  );
}
