import { CommandError } from './output.ts';

const MAX_LISTED = 1000;

/** Parses `--limit`. */
export function limitOf(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED)
    throw new CommandError(`--limit: write a whole number from 1 to ${MAX_LISTED}`);
  return limit;
}
