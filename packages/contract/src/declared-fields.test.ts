import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { contract, declaredFields, type Endpoint, type Room, successStatus, workerApi } from './index.ts';
import { toInlineSchema } from './openapi-schemas.ts';
import { type JsonSchema, samplesOf } from './test/json-samples.ts';

const rooms: Record<string, Room | Record<string, Endpoint>> = { ...contract, worker: workerApi };
const responses = Object.entries(rooms).flatMap(([room, routes]) =>
  Object.entries(routes).flatMap(([verb, route]) => {
    const schema = route.responses[successStatus(route)];
    return schema instanceof z.ZodType ? [{ name: `${room}.${verb}`, schema }] : [];
  }),
);

const resolve = (reference: string): JsonSchema => {
  throw new Error(`inline schemas have no ${reference}`);
};

const UNDECLARED = 'undeclared';

/** Adds a field to every object whose fields the schema declares, and reverses their order. */
function littered(schema: JsonSchema, value: unknown): unknown {
  const { properties, items } = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  if (Array.isArray(value)) return value.map((item) => littered(items ?? {}, item));
  if (typeof value !== 'object' || value === null || properties === undefined) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, littered(properties[name] ?? {}, field)]);
  return Object.fromEntries([[UNDECLARED, 1], ...fields.toReversed()]);
}

describe('the response of each operation has the declared fields, as zod orders and writes them', () => {
  it.each(responses)('$name', ({ schema }) => {
    const json: JsonSchema = JSON.parse(JSON.stringify(toInlineSchema(schema, 'output')));
    const copy = declaredFields(schema);
    fc.assert(
      fc.property(
        samplesOf(json, resolve).filter((value) => schema.safeParse(value).success),
        (value) => {
          const expected = JSON.stringify(schema.parse(value));
          expect(JSON.stringify(copy(value))).toBe(expected);
          const given = littered(json, value);
          expect(JSON.stringify(given)).toContain(UNDECLARED);
          expect(JSON.stringify(copy(given))).toBe(expected);
        },
      ),
    );
  });
});

test.each<[string, z.ZodType, unknown]>([
  ['a union', z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]), { b: 1, c: 2 }],
  ['a discriminated union', z.discriminatedUnion('t', [z.object({ t: z.literal('a') })]), { t: 'a', c: 2 }],
  ['a record of objects', z.record(z.string(), z.object({ a: z.string() })), { x: { a: 'a', c: 2 } }],
  ['a tuple', z.tuple([z.object({ a: z.string() })]), [{ a: 'a', c: 2 }]],
  ['a default', z.object({ a: z.string().default('a') }), { c: 2 }],
  ['a transform', z.string().transform((text) => text.length), 'four'],
  ['an optional object', z.object({ a: z.object({ b: z.string() }).optional() }), { c: 2 }],
  ['an object that keeps other fields', z.looseObject({ a: z.string() }), { c: 2, a: 'a' }],
  ['an object with other fields of one kind', z.object({ a: z.string() }).catchall(z.number()), { c: 2, a: 'a' }],
  ['changes of a string', z.string().trim().toLowerCase(), ' A '],
  ['a coerced value', z.coerce.string(), 1],
])('copies %s like zod', (_what, schema, value) => {
  expect(JSON.stringify(declaredFields(schema)(value))).toBe(JSON.stringify(schema.parse(value)));
});
