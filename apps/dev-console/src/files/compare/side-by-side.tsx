import { Skeleton } from '@mantine/core';
import { EmptyState } from '../../ui/empty-state.tsx';
import { statusIcon, statusLabel } from '../../ui/status-badge.tsx';
import { Viewer } from '../viewer.tsx';
import classes from './compare.module.css';
import type { Side } from './side.ts';
import { SideHead } from './side-head.tsx';

const nowhere = () => {};

/** Two files of any kind, side by side. */
export function SideBySide({ sides }: { sides: readonly [Side, Side] }) {
  return (
    <div className={classes.sides}>
      {sides.map((side) => (
        <section key={side.name} aria-label={side.name} className={classes.side}>
          <SideHead side={side} />
          {side.file !== undefined && side.url !== undefined ? (
            <Viewer key={side.id} file={side.file} url={side.url} asked={null} onPosition={nowhere} />
          ) : side.file !== undefined && side.file.status !== 'UPLOADED' ? (
            <EmptyState icon={statusIcon(side.file.status)} title={statusLabel(side.file.status)}>
              It can be compared once its content is there.
            </EmptyState>
          ) : (
            side.error === null && <Skeleton h={320} />
          )}
        </section>
      ))}
    </div>
  );
}
