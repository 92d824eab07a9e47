import { z } from 'zod';
import { QUERY, type Route } from './endpoint.ts';

/**
 * Returns the GET form of a QUERY list, for clients and proxies without QUERY; null for other routes. The fields of the body
 * become query parameters: nested fields are dotted (`sort.type`), an empty value is null. The handler gets the same input.
 */
export function getForm(route: Route): Route | null {
  if (route.method !== QUERY || !(route.body instanceof z.ZodObject)) return null;
  const { body, method: _, metadata, ...rest } = route;
  const problems = [...(metadata.problems ?? []), 'INVALID_CURSOR'] as const;
  return { ...rest, method: 'GET', query: parametersOf(body), metadata: { ...metadata, problems } };
}

/** Maps the pointer of a body field to its query parameter: `/folder/id` is `#query/folder.id`, or `#query/folder`. */
export function parameterPointer(pointer: string, query: object): string {
  const steps = pointer.split('/').slice(1);
  const sent = steps.map((_, index) => steps.slice(0, index + 1).join('.')).find((name) => Object.hasOwn(query, name));
  return `#query/${sent ?? steps.join('.')}`;
}

const identity = (value: unknown) => value;

interface Parameter {
  name: string;
  path: readonly string[];
  schema: z.ZodType;
  /** The body needs it. */
  required?: boolean;
  /** Converts the parameter to the value in the body. */
  read?: (value: unknown) => unknown;
}

function parametersOf(body: z.ZodObject) {
  const parameters = flatten(body, []);
  const shape = Object.fromEntries(
    parameters.map(({ name, schema, required }) => [name, required ? schema : schema.optional()]),
  );
  return z
    .strictObject(shape)
    .transform((query, { issues }) => {
      const asked: Record<string, unknown> = {};
      for (const { name, path, read = identity } of parameters) {
        const value = query[name];
        if (value === undefined || setPath(asked, path, read(value))) continue;
        const message = `Send only one of ${path[0]} and ${name}.`;
        issues.push({ code: 'custom', params: { code: 'REPEATED' }, message, path: [name], input: query });
      }
      return asked;
    })
    .pipe(body);
}

/** Sets the value at the path. Returns false if it is already set. */
function setPath(object: Record<string, unknown>, [key = '', ...inner]: readonly string[], value: unknown): boolean {
  if (inner.length === 0) {
    if (key in object) return false;
    object[key] = value;
    return true;
  }
  if (!(key in object)) object[key] = {};
  const next = object[key];
  return isRecord(next) && setPath(next, inner, value);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function flatten(object: z.ZodObject, parents: readonly string[]): Parameter[] {
  return Object.entries(object.shape).flatMap(([key, field]) => {
    const path = [...parents, key];
    const name = path.join('.');
    const { base, nullable } = unwrap(field);
    if (!(base instanceof z.ZodObject)) {
      const required = parents.length === 0 && !z.safeParse(field, undefined).success;
      return [{ name, path, schema: toParameter(name, field), required }];
    }
    const inner = flatten(base, path);
    const id = base.shape['id'];
    if (!nullable || inner.length !== 1 || !(id instanceof z.ZodType)) return inner;
    // A reference can be given as its plain id, or empty for null.
    const schema = z.union([id, z.string().max(0)]).meta({ description: `As \`${name}.id\`; empty for none.` });
    return [{ name, path, schema, read: (value) => (value === '' ? null : { id: value }) }, ...inner];
  });
}

/** Returns the schema of a field as a query parameter, with one spelling for each value. */
function toParameter(name: string, field: z.core.$ZodType): z.ZodType {
  const { base, nullable } = unwrap(field);
  if (!(field instanceof z.ZodType))
    throw new Error(`${name} cannot be a query parameter: its schema is not a zod type`);
  const spelling = spellingOf(base);
  if (spelling === undefined)
    throw new Error(`${name} cannot be a query parameter: only strings, enums, booleans, numbers and lists can`);
  if (spelling === 'text' && !nullable) return field;
  return z.preprocess((text) => (nullable && text === '' ? null : spelling === 'text' ? text : spelling(text)), field);
}

function spellingOf(schema: z.core.$ZodType): 'text' | ((text: unknown) => unknown) | undefined {
  if (schema instanceof z.ZodBoolean) return (text) => (text === 'true' ? true : text === 'false' ? false : text);
  // A list is separated by commas, which no identifier contains.
  if (schema instanceof z.ZodPipe && schema.out instanceof z.ZodArray)
    return (text) => (typeof text === 'string' ? text.split(',') : text);
  if (schema instanceof z.ZodNumber) return (text) => (/^-?\d{1,15}$/.test(String(text)) ? Number(text) : text);
  const isText = schema instanceof z.ZodString || schema instanceof z.ZodStringFormat || schema instanceof z.ZodEnum;
  const isWord = schema instanceof z.ZodLiteral && [...schema.values].every((value) => typeof value === 'string');
  return isText || isWord ? 'text' : undefined;
}

/** Unwraps optional, default and nullable schemas. */
function unwrap(schema: z.core.$ZodType): { base: z.core.$ZodType; nullable: boolean } {
  let base = schema;
  let nullable = false;
  while (base instanceof z.ZodOptional || base instanceof z.ZodDefault || base instanceof z.ZodNullable) {
    nullable ||= base instanceof z.ZodNullable;
    base = base.unwrap();
  }
  return { base, nullable };
}
