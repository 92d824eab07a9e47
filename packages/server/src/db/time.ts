let last = 0;

/** The present as a `Timestamp` of the contract, later than every one this process gave before. */
export function now(): string {
  last = Math.max(last + 1, Date.now() * 1000);
  return timestamp(last);
}

/** The time that many seconds from now, to compare stored times with. */
export const secondsFromNow = (seconds: number): string => timestamp(Math.round(Date.now() + seconds * 1000) * 1000);

/** A time as it is stored. */
export function timestamp(microseconds: number): string {
  const [day, time] = new Date(Math.floor(microseconds / 1000)).toISOString().slice(0, 23).split('T');
  return `${day} ${time}${String(microseconds % 1000).padStart(3, '0')}`;
}
