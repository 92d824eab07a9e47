import { z } from 'zod';

export const PAGE_SIZE = 50;

export const Direction = z.enum(['asc', 'desc']);
export type Direction = z.infer<typeof Direction>;

/** The order of a list by one of these fields: the first, newest first, if the request has none. */
export const sortedBy = <const Type extends string>(type: Type, ...others: Type[]) => {
  const order = { type, direction: 'desc' } as const;
  return z
    .strictObject({
      type: z
        .enum([type, ...others])
        .default(type)
        .describe('The field to sort by.'),
      direction: Direction.default('desc').describe('Ascending or descending.'),
    })
    .default(order)
    .describe('The order of the list.');
};

const Cursor = z.string().min(1).max(4096).meta({ pattern: '^[A-Za-z0-9_-]+$' });

/** The body of a cursor-paged list: its own filters and at most one cursor. */
export const cursorQuery = <Filters extends z.ZodRawShape>(filters: Filters) =>
  z
    .strictObject({
      ...filters,
      next: Cursor.optional().describe('The `page.next` of an earlier answer, to get the page after it.'),
      prev: Cursor.optional().describe('The `page.prev` of an earlier answer, to get the page before it.'),
    })
    .check((context) => {
      const { value, issues } = context;
      if ('next' in value && 'prev' in value && value.next !== undefined && value.prev !== undefined) {
        issues.push({
          code: 'custom',
          params: { code: 'BOTH_CURSORS' },
          message: 'Send only one of next and prev.',
          path: ['prev'],
          input: value,
        });
      }
    })
    .meta({ not: { required: ['next', 'prev'] } });

export const cursorPage = <Item extends z.ZodType>(item: Item) =>
  z.object({
    data: z.array(item),
    page: z.object({ next: z.string().nullable(), prev: z.string().nullable() }),
  });

export const numberedPage = <Item extends z.ZodType>(item: Item) =>
  z.object({
    data: z.array(item),
    page: z.object({ current: z.number().int(), hasNext: z.boolean() }),
  });

/** A whole number in a query string: digits only, so that `1e1` and ` 1` are refused. */
export const wholeNumberParameter = (bounds: { min: number; max: number; default: number }, description: string) =>
  z
    .preprocess(
      (value: number | string) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value),
      // Repeated here, because zod omits the default of a transformed schema from JSON Schema.
      z.number().int().min(bounds.min).max(bounds.max).meta({ default: bounds.default, description }),
    )
    .default(bounds.default);
