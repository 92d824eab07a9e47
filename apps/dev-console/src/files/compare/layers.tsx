import { Slider, Text } from '@mantine/core';
import { type CSSProperties, type ReactNode, useState } from 'react';
import classes from './compare.module.css';
import { type Layering, stylesOf } from './layering.ts';

interface LayersProps {
  mode: Layering;
  /** Renders the left or the right layer. */
  children: (index: 0 | 1, style: CSSProperties) => ReactNode;
}

/** Two layers, compared by a wipe line, by opacity, or by their difference: black is equal. */
export function Layers({ mode, children }: LayersProps) {
  const [share, setShare] = useState(50);
  const [left, right] = stylesOf(mode, share);
  const label = mode === 'wipe' ? 'Where the right one begins' : 'How much of the right one';
  return (
    <>
      <figure className={classes.layers} data-mode={mode}>
        {children(0, left)}
        {children(1, right)}
        {mode === 'wipe' && <span className={classes.line} style={{ left: `${share}%` }} aria-hidden="true" />}
      </figure>
      {mode !== 'difference' && (
        <div>
          <Text size="sm" mb={4}>
            {label}
          </Text>
          <Slider thumbLabel={label} value={share} onChange={setShare} label={(value) => `${value} %`} />
        </div>
      )}
    </>
  );
}
