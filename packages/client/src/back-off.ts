/** The delay after the given count of earlier failures: doubles with each, up to the maximum. */
export const backOffMs = (
  { firstDelayMs, maxDelayMs }: { firstDelayMs: number; maxDelayMs: number },
  failures: number,
): number => Math.min(maxDelayMs, firstDelayMs * 2 ** failures);
