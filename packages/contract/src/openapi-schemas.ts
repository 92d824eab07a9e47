import { z } from 'zod';
import { EMOJI_PATTERN } from './emoji-pattern.ts';
import { Emoji } from './reactions.ts';

type Schema = z.core.JSONSchema.BaseSchema;
export type Io = 'input' | 'output';

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** The name of a schema: the `id` in its metadata. The document has named schemas as components and inlines all others. */
const nameOf = (schema: z.core.$ZodType) => z.globalRegistry.get(schema)?.id;

/** Metadata without ids, because zod moves schemas with an id to `$defs`. */
class Unnamed extends z.core.$ZodRegistry<Record<string, unknown>> {
  override get(schema: z.core.$ZodType) {
    const { id: _, ...metadata } = z.globalRegistry.get(schema) ?? {};
    return metadata;
  }
}
const UNNAMED = new Unnamed();

type Override = (context: { zodSchema: z.core.$ZodTypes; jsonSchema: Schema }) => void;

/** Converts a schema to JSON Schema, for requests (`input`) or responses (`output`), without references. */
export function toInlineSchema(
  schema: z.core.$ZodType,
  io: Io,
  override: Override = ({ jsonSchema }) => normalizeSchema(jsonSchema, io),
): Schema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    metadata: UNNAMED,
    override,
  });
  return json;
}

/** Converts a schema to JSON Schema with references to the named schemas. */
export function toJsonSchema(schema: z.core.$ZodType, io: Io, own?: string): Schema {
  const json = toInlineSchema(schema, io, ({ zodSchema, jsonSchema }) => {
    const name = nameOf(zodSchema);
    if (name !== undefined && name !== own) {
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
      Object.assign(jsonSchema, schemaRef(name));
      return;
    }
    if (zodSchema === Emoji) jsonSchema.pattern = EMOJI_PATTERN;
    normalizeSchema(jsonSchema, io);
  });
  return mergeNullTypes(json);
}

/** Rewrites `anyOf` with null as a type list, because generators create a class for each `anyOf`. */
function mergeNullTypes<Node>(node: Node): Node {
  if (Array.isArray(node)) for (const item of node) mergeNullTypes(item);
  else if (typeof node === 'object' && node !== null) {
    for (const value of Object.values(node)) mergeNullTypes(value);
    const [shape, nothing, ...more] = 'anyOf' in node && Array.isArray(node.anyOf) ? node.anyOf : [];
    if (more.length === 0 && nothing?.type === 'null' && typeof shape?.type === 'string' && !shape.enum) {
      Reflect.deleteProperty(node, 'anyOf');
      Object.assign(node, shape, { type: [shape.type, 'null'] });
    }
  }
  return node;
}

function normalizeSchema(schema: Schema, io: Io): void {
  // Generators fail on `const` and on object defaults, which the defaults of the fields already express.
  if (typeof schema.const === 'string' || typeof schema.const === 'number') {
    schema.enum = [schema.const];
    delete schema.const;
  } else if (typeof schema.const === 'boolean' && io === 'output') delete schema.const;
  if (typeof schema.default === 'object') delete schema.default;
  // zod adds these bounds to every integer.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // Responses may gain fields; requests with unknown fields are refused.
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
}

/** Returns the named schemas inside the given ones. A name that requests and responses share describes the response. */
export function namedSchemas(used: Record<Io, z.ZodType[]>): Record<string, Schema> {
  const named = new Map<string, Schema>();
  for (const io of ['output', 'input'] as const) {
    for (const schema of used[io]) {
      toInlineSchema(schema, io, ({ zodSchema }) => {
        const name = nameOf(zodSchema);
        if (name !== undefined && !named.has(name)) named.set(name, toJsonSchema(zodSchema, io, name));
      });
    }
  }
  return Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
}
