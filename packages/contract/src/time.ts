import { z } from 'zod';

/** UTC with microseconds, as `2026-11-15 08:30:00.000000`: sorts as text in every database. */
export const Timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{6}$/, {
    error: 'As 2026-11-15 08:30:00.000000, in UTC.',
    abort: true,
  })
  .meta({ examples: ['2026-11-15 08:30:00.000000'] });

/** In milliseconds, as `Date` counts them. */
export const instantOf = (timestamp: string): number =>
  Date.parse(`${timestamp.slice(0, 10)}T${timestamp.slice(11, 23)}Z`);

/** Back again; an instant of `Date` has no microseconds. */
export const timestampOf = (instant: number): string =>
  `${new Date(instant).toISOString().slice(0, 23).replace('T', ' ')}000`;

/** A time that a caller names: in the same form, and one that a calendar and a clock have. */
export const ChosenTime = Timestamp.refine(
  (value) => {
    const instant = instantOf(value);
    return !Number.isNaN(instant) && timestampOf(instant).slice(0, 23) === value.slice(0, 23);
  },
  { error: 'There is no such time.', params: { code: 'INVALID_TIME' } },
);

/** A calendar day. */
export const Day = z.iso.date({ error: 'A day, as 2026-11-15.' });
