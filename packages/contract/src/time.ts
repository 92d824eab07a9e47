import { z } from 'zod';

const timestamp = () =>
  z.string().regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{6}$/, {
    error: 'As 2026-11-15 08:30:00.000000, in UTC.',
    abort: true,
  });

/** UTC with microseconds, as `2026-11-15 08:30:00.000000`: sorts as text in every database. */
export const Timestamp = timestamp().meta({ examples: ['2026-11-15 08:30:00.000000'] });

/** In milliseconds, as `Date` counts them. */
export const instantOf = (timestamp: string): number =>
  Date.parse(`${timestamp.slice(0, 10)}T${timestamp.slice(11, 23)}Z`);

/** Back again; an instant of `Date` has no microseconds. */
export const timestampOf = (instant: number): string =>
  `${new Date(instant).toISOString().slice(0, 23).replace('T', ' ')}000`;

const EXISTING = new RegExp(`${z.regexes.date.source.slice(0, -1)} (?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{6}$`);

/** A time that a caller names: in the same form, and one that a calendar and a clock have. */
export const ChosenTime = timestamp()
  .refine((value) => EXISTING.test(value), { error: 'There is no such time.', params: { code: 'INVALID_TIME' } })
  .meta({ pattern: EXISTING.source, examples: ['2099-12-31 23:59:59.000000'] });

/** A calendar day. */
export const Day = z.iso.date({ error: 'A day, as 2026-11-15.' });
