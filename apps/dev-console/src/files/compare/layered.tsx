import { Slider, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import classes from './compare.module.css';
import type { Side } from './side.ts';
import { SideHead } from './side-head.tsx';

interface LayeredProps {
  sides: readonly [Side, Side];
  mode: 'wipe' | 'overlay';
}

/** Two layered images, compared by a wipe line or by opacity. */
export function Layered({ sides, mode }: LayeredProps) {
  const [left, right] = sides;
  const [share, setShare] = useState(50);
  const style = mode === 'wipe' ? { clipPath: `inset(0 0 0 ${share}%)` } : { opacity: share / 100 };
  return (
    <Stack gap="md">
      <div className={classes.sides}>
        <SideHead side={left} />
        <SideHead side={right} />
      </div>
      <figure className={classes.layers}>
        {left.url !== undefined && <img src={left.url} alt={`Left: ${left.file?.name}`} />}
        {right.url !== undefined && <img src={right.url} alt={`Right: ${right.file?.name}`} style={style} />}
        {mode === 'wipe' && <span className={classes.line} style={{ left: `${share}%` }} aria-hidden="true" />}
      </figure>
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
    </Stack>
  );
}
