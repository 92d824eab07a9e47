const digits = (number: number, count: number) => String(number).padStart(count, '0');

/** For example `1:02.400`. */
export function clock(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const minutes = Math.floor(milliseconds / 60_000);
  return `${minutes}:${digits(Math.floor(milliseconds / 1000) % 60, 2)}.${digits(milliseconds % 1000, 3)}`;
}
