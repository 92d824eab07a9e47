import { Day } from '@review/contract';
import { secondsFromNow } from '../db/time.ts';
import { CommandError } from './output.ts';

/** Returns the expiry time of a day such as `2027-01-31` (its end, UTC) or of a number of days such as `90d`. */
export function expiry(text: string): string {
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1];
  if (days !== undefined) return secondsFromNow(Number(days) * 24 * 60 * 60);
  if (!Day.safeParse(text).success) {
    throw new CommandError('--expires: write a date such as 2027-01-31, or a number of days such as 90d');
  }
  if (Date.parse(`${text}T23:59:59.999Z`) <= Date.now())
    throw new CommandError('--expires: the date is in the past; write a later one');
  return `${text} 23:59:59.999999`;
}
