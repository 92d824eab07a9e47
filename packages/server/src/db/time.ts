let last = 0;

/** Returns the current time as a `Timestamp` of the contract, strictly increasing within this process. */
export function now(): string {
  last = Math.max(last + 1, Date.now() * 1000);
  return timestamp(last);
}

/** Returns the time that many seconds from now, to compare with stored times. */
export const secondsFromNow = (seconds: number): string => timestamp(Math.round(Date.now() + seconds * 1000) * 1000);

/** Returns the time that many days after a stored time. */
export const daysAfter = (at: string, days: number): string =>
  timestamp((Date.parse(`${at.slice(0, 23).replace(' ', 'T')}Z`) + days * 86_400_000) * 1000 + Number(at.slice(23)));

/** Formats microseconds since the epoch as a stored time. */
export function timestamp(microseconds: number): string {
  const iso = new Date(Math.floor(microseconds / 1000)).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}${String(microseconds % 1000).padStart(3, '0')}`;
}
