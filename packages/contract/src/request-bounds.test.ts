import type { AppRoute } from '@ts-rest/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { list, map } from './collections.ts';
import { contract, workerApi } from './index.ts';
import { toInlineSchema } from './openapi-schemas.ts';
import { refusedFields } from './test/refusal.ts';
import { text } from './text.ts';

/** Longer than any body. */
const HUGE = 'a'.repeat(5 * 1024 * 1024);

/** Finds the places of a request schema that accept unbounded values. */
function unbounded(schema: z.core.$ZodType, path: string): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const within = (inner: z.core.$ZodType, step = '') => unbounded(inner, path + step);
  switch (def.type) {
    case 'string':
      return isBoundedText(schema) ? [] : [`${path}: a string without a maximum`];
    case 'number': {
      const { minimum, maximum } = toInlineSchema(schema, 'input');
      const isOpen = (bound = Number.POSITIVE_INFINITY) => Math.abs(bound) >= Number.MAX_SAFE_INTEGER;
      return isOpen(minimum) || isOpen(maximum) ? [`${path}: a number without bounds`] : [];
    }
    case 'unknown':
      return z.safeParse(schema, HUGE).success ? [`${path}: any JSON without a maximum`] : [];
    case 'object':
      return [
        ...(isStrict(def) ? [] : [`${path}: an object with any fields`]),
        ...Object.entries(def.shape).flatMap(([name, field]) => within(field, `/${name}`)),
      ];
    case 'pipe': {
      if (!(def.in instanceof z.ZodTransform)) return within(def.in);
      const { maxItems, maxProperties } = z.globalRegistry.get(schema) ?? {};
      if (isArray(def.out)) {
        const items = within(def.out._zod.def.element, '/0');
        return typeof maxItems === 'number' ? items : [`${path}: an array without a maximum`, ...items];
      }
      if (isRecord(def.out)) {
        const { keyType, valueType } = def.out._zod.def;
        const entries = [...within(keyType, '/(key)'), ...within(valueType, '/*')];
        return typeof maxProperties === 'number' ? entries : [`${path}: a map without a maximum`, ...entries];
      }
      return within(def.out);
    }
    // Reached without `list` or `map`, which check the size before the items.
    case 'array':
      return [`${path}: an array that is not made by list()`];
    case 'record':
      return [`${path}: a map that is not made by map()`];
    case 'optional':
    case 'nullable':
    case 'default':
      return within(def.innerType);
    case 'union':
      return def.options.flatMap((option) => within(option));
    case 'enum':
    case 'literal':
    case 'boolean':
    case 'null':
      return [];
    default:
      return [`${path}: ${def.type} is not known to this test`];
  }
}

const isArray = (schema: z.core.$ZodType): schema is z.core.$ZodArray => schema._zod.def.type === 'array';
const isRecord = (schema: z.core.$ZodType): schema is z.core.$ZodRecord => schema._zod.def.type === 'record';
const isStrict = ({ catchall }: { catchall?: z.core.$ZodType | undefined }) => catchall?._zod.def.type === 'never';

/** Bounded by a length, or by a pattern that matches only texts of limited length. */
function isBoundedText(schema: z.core.$ZodType): boolean {
  const { maxLength, pattern = '', allOf = [] } = toInlineSchema(schema, 'input');
  const patterns = [pattern, ...allOf.map((each) => each.pattern ?? '')];
  return (
    maxLength !== undefined || patterns.some((each) => /^\^.*\$$/.test(each) && !/(?<!\\)[*+]|\{\d+,\}/.test(each))
  );
}

const rooms: Record<string, Record<string, AppRoute>> = { ...contract, worker: workerApi };
const schemas = Object.entries(rooms).flatMap(([room, verbs]) =>
  Object.entries(verbs).flatMap(([verb, route]) =>
    [
      { part: 'body', schema: 'body' in route ? route.body : undefined },
      { part: 'query', schema: route.query },
      { part: 'path', schema: route.pathParams },
      { part: 'headers', schema: route.headers },
    ].flatMap(({ part, schema }) => (schema instanceof z.ZodType ? [{ name: `${room}.${verb} ${part}`, schema }] : [])),
  ),
);

it.each(schemas)('$name is bounded everywhere', ({ schema }) => {
  expect(unbounded(schema, '')).toEqual([]);
});

it.each([
  ['a string', z.string()],
  ['a pattern of any length', z.string().regex(/^[a-z]+$/)],
  ['a number', z.number().min(0)],
  ['a whole number', z.number().int()],
  ['any JSON', z.unknown()],
  ['an array', z.array(z.boolean()).max(5)],
  ['the items of a list', list(z.string(), { max: 5 })],
  ['a map', z.record(text({ max: 5 }), z.boolean())],
  ['the keys of a map', map(z.string(), z.boolean(), { max: 5 })],
  ['the values of a map', map(text({ max: 5 }), z.string(), { max: 5 })],
  ['an object with any fields', z.looseObject({})],
  ['within a union', z.union([z.boolean(), z.string()]).nullable().optional()],
])('the check finds unbounded values: %s', (_, schema) => {
  expect(unbounded(z.strictObject({ field: schema }), '')).toHaveLength(1);
});

describe('an oversized body', () => {
  /** Throws when a property of an item is read, to prove that items of a list that is too long are not validated. */
  const untouchable = new Proxy(
    {},
    {
      get: () => {
        throw new Error('an item was looked at');
      },
    },
  );

  it('is refused by its length, before any item is validated', () => {
    const parts = Array.from({ length: 10_001 }, () => untouchable);
    expect(refusedFields(contract.files.completeUpload.body, { parts })).toEqual([
      { pointer: '/parts', code: 'TOO_MANY', message: 'At most 10000.' },
    ]);
    const allowedTools = Array.from({ length: 101 }, () => untouchable);
    const metadata = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [n, untouchable]));
    expect(refusedFields(contract.skills.update.body, { metadata, allowedTools })).toEqual([
      { pointer: '/metadata', code: 'TOO_MANY', message: 'At most 50.' },
      { pointer: '/allowedTools', code: 'TOO_MANY', message: 'At most 100.' },
    ]);
  });

  it('names a field of any length by a short pointer', () => {
    const [field] = refusedFields(contract.folders.create.body, { name: 'a', [HUGE]: 1 });
    expect(field?.pointer).toHaveLength(501);
    expect(field?.pointer).toMatch(/^\/a+…$/);
  });
});
