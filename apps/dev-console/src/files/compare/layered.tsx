import { Stack } from '@mantine/core';
import classes from './compare.module.css';
import type { Layering } from './layering.ts';
import { Layers } from './layers.tsx';
import type { Side } from './side.ts';
import { SideHead } from './side-head.tsx';

interface LayeredProps {
  sides: readonly [Side, Side];
  mode: Layering;
}

/** Two images, one over the other. */
export function Layered({ sides, mode }: LayeredProps) {
  return (
    <Stack gap="md">
      <div className={classes.sides}>
        {sides.map((side) => (
          <SideHead key={side.name} side={side} />
        ))}
      </div>
      <Layers mode={mode}>
        {(index, style) => {
          const { name, url, file } = sides[index];
          return url !== undefined && <img src={url} alt={`${name}: ${file?.name}`} style={style} />;
        }}
      </Layers>
    </Stack>
  );
}
