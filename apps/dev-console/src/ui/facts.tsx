import type { ReactNode } from 'react';
import classes from './facts.module.css';

/** A list of names and values; pairs without a value are omitted. */
export function Facts({ of }: { of: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={classes.facts}>
      {of
        .filter(([, value]) => Boolean(value))
        .map(([name, value]) => (
          <div key={name} className={classes.fact}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
