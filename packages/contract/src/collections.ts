import { z } from 'zod';

export interface Bounds {
  min?: number;
  max: number;
}

/** The key that must be unique in a list, and its path in an item. */
export interface Identity<Item> {
  of: (item: Item) => string;
  path: readonly string[];
  message: string;
}

/**
 * An array of `min` to `max` items. Its length is checked before its items: zod alone would validate and report every
 * item of an array that is too long.
 */
export function list<Item extends z.ZodType>(
  item: Item,
  { min = 0, max }: Bounds,
  identity?: Identity<z.output<Item>>,
) {
  const items = z
    .array(item)
    .min(min)
    .max(max)
    .check(({ value, issues }) => {
      if (identity === undefined) return;
      const seen = new Set<string>();
      for (const [index, entry] of value.entries()) {
        const id = identity.of(entry);
        if (seen.has(id)) {
          const { message, path } = identity;
          issues.push({ code: 'custom', params: { code: 'DUPLICATE' }, message, path: [index, ...path], input: value });
        }
        seen.add(id);
      }
    });
  return z
    .preprocess((value: z.input<typeof items>, context) => {
      if (Array.isArray(value) && value.length > max) refuse(context, value, max);
      return value;
    }, items)
    .meta({ maxItems: max, ...(identity && { uniqueItems: true }) });
}

/** An object of up to `max` arbitrary fields, counted before they are validated. */
export function map<Key extends z.ZodType<string, string>, Value extends z.ZodType>(
  key: Key,
  value: Value,
  { max }: { max: number },
) {
  const entries = z.record(key, value);
  return z
    .preprocess((given: z.input<typeof entries>, context) => {
      if (typeof given === 'object' && given !== null && Object.keys(given).length > max) refuse(context, given, max);
      return given;
    }, entries)
    .meta({ maxProperties: max });
}

const refuse = (context: z.core.$RefinementCtx, input: unknown, maximum: number) =>
  context.issues.push({ code: 'too_big', origin: 'array', maximum, inclusive: true, input });
