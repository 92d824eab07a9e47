import { z } from 'zod';

const timestamp = () =>
  z.string().regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{6}$/, {
    error: 'Must be a UTC time such as 2026-11-15 08:30:00.000000.',
    abort: true,
  });

/** UTC with microseconds, such as `2026-11-15 08:30:00.000000`, which sorts as text in every database. */
export const Timestamp = timestamp().meta({ id: 'Timestamp', examples: ['2026-11-15 08:30:00.000000'] });

/** Returns the time of a timestamp in milliseconds since the epoch. */
export const instantOf = (timestamp: string): number =>
  Date.parse(`${timestamp.slice(0, 10)}T${timestamp.slice(11, 23)}Z`);

/** Returns the timestamp of a time in milliseconds since the epoch. */
export const timestampOf = (instant: number): string =>
  `${new Date(instant).toISOString().slice(0, 23).replace('T', ' ')}000`;

const EXISTING = new RegExp(`${z.regexes.date.source.slice(0, -1)} (?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{6}$`);

/** A timestamp in a request, which must exist in the calendar. */
export const ChosenTime = timestamp()
  .refine((value) => EXISTING.test(value), { error: 'This time does not exist.', params: { code: 'INVALID_TIME' } })
  .meta({ pattern: EXISTING.source, examples: ['2099-12-31 23:59:59.000000'] });

/** A calendar day. */
export const Day = z.iso.date({ error: 'Must be a date such as 2026-11-15.' });
