import { z } from 'zod';

/** Any JSON of bounded size and depth, which the service does not interpret. */
export function opaqueJson({ maxBytes, maxDepth }: { maxBytes: number; maxDepth: number }) {
  const schema = z.unknown().check((context) => {
    const { value, issues } = context;
    const refuse = (code: string, message: string) =>
      issues.push({ code: 'custom', params: { code }, message, input: value });
    // The depth is checked first: serialising deep nesting would overflow the stack.
    if (isDeeperThan(maxDepth, value)) refuse('TOO_DEEP', `At most ${maxDepth} levels.`);
    else if (bytesOf(value) > maxBytes) refuse('TOO_LARGE', `At most ${maxBytes} bytes of JSON.`);
  });
  return schema.meta({ description: `Any JSON of at most ${maxBytes} bytes and ${maxDepth} levels.` });
}

function isDeeperThan(limit: number, value: unknown): boolean {
  let level = [value].filter(isNesting);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= limit) return true;
    level = level.flatMap((nesting) => Object.values(nesting).filter(isNesting));
  }
  return false;
}

const isNesting = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The size of a value as JSON, in UTF-8. */
export const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;
