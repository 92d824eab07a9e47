import { z } from 'zod';

/** A string bounded in Unicode code points. NUL and lone surrogates are refused, because the databases cannot store them. */
export function text(bounds: { min?: number; max: number }) {
  const { min = 0, max } = bounds;
  const schema = z.string().check((context) => {
    const { value, issues } = context;
    const refuse = (code: string, message: string) =>
      issues.push({ code: 'custom', params: { code }, message, input: value });
    if (value.includes('\0') || !value.isWellFormed()) {
      refuse('INVALID_TEXT', 'Must be well-formed Unicode without NUL characters.');
      return;
    }
    const length = codePoints(value, max);
    if (length > max) refuse('TOO_LONG', `At most ${max} ${characters(max)}.`);
    if (length < min) refuse('TOO_SHORT', `At least ${min} ${characters(min)}.`);
  });
  return schema.meta({ ...(min > 0 && { minLength: min }), maxLength: max, pattern: '^[^\\x00]*$' });
}

function codePoints(value: string, enough: number): number {
  if (value.length <= enough) return value.length - (value.match(/[\uD800-\uDBFF]/g)?.length ?? 0);
  let count = 0;
  for (const _ of value) if (++count > enough) break;
  return count;
}

function characters(count: number): string {
  return count === 1 ? 'character' : 'characters';
}
