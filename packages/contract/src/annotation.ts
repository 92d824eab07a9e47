import { z } from 'zod';

const MAX_BYTES = 200 * 1024;
const MAX_DEPTH = 100;

/** A drawing on a file comment: JSON that only the client understands. */
export const Annotation = z.unknown().check((context) => {
  const { value, issues } = context;
  const refuse = (code: string, message: string) =>
    issues.push({ code: 'custom', params: { code }, message, input: value });
  // Depth first: serialising an endless nesting would overflow the stack.
  if (isDeeperThan(MAX_DEPTH, value)) refuse('TOO_DEEP', `At most ${MAX_DEPTH} levels.`);
  else if (bytes(value) > MAX_BYTES) refuse('TOO_LARGE', `At most ${MAX_BYTES} bytes of JSON.`);
});

function isDeeperThan(limit: number, value: unknown): boolean {
  let level = [value].filter(isNesting);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= limit) return true;
    level = level.flatMap((nesting) => Object.values(nesting).filter(isNesting));
  }
  return false;
}

const isNesting = (value: unknown): value is object => typeof value === 'object' && value !== null;

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;
