const UNITS = ['B', 'kB', 'MB', 'GB'];

/** Formats a byte count with a readable unit. */
export function sizeOf(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}
