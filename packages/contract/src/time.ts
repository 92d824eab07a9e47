import { z } from 'zod';

/** UTC with microseconds, as `2026-11-15 08:30:00.000000`: sorts as text in every database. */
export const Timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{6}$/, {
    error: 'As 2026-11-15 08:30:00.000000, in UTC.',
    abort: true,
  })
  .meta({ examples: ['2026-11-15 08:30:00.000000'] });

/** A time that a caller names: in the same form, and one that a calendar and a clock have. */
export const ChosenTime = Timestamp.refine(
  (value) => {
    const milliseconds = `${value.slice(0, 10)}T${value.slice(11, 23)}Z`;
    const time = new Date(milliseconds);
    return !Number.isNaN(time.getTime()) && time.toISOString() === milliseconds;
  },
  { error: 'There is no such time.', params: { code: 'INVALID_TIME' } },
);

/** A calendar day. */
export const Day = z.iso.date({ error: 'A day, as 2026-11-15.' });
