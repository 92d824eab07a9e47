import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Contract, Route } from '@review/contract';
import * as everything from '@review/contract';
import type { ESTree, Plugin } from 'vite';
import { z } from 'zod';

const local = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const distOf = (name: string) => fileURLToPath(new URL('.', import.meta.resolve(name)));
const CONTRACT = distOf('@review/contract');
const CLIENT = distOf('@review/client');
const EXPORTS = '\0contract-exports';
const ROUTES = '\0contract-routes';
const LAZY_EVENTS = '\0lazy-events';
/** Ends the ids of the copies of the contract's files that only constants and functions are imported from. */
const LIGHT = '?light';

/**
 * Keeps zod and the contract's schemas out of the first load:
 * - Schemas come from the contract's files, the rest from copies of these files, in which schemas are not used and thus removed.
 * - The routes become data: method, path and rules; of the schemas only the maximum lengths of fields (see `bounds.ts`).
 * - The client checks problems with `src/problem-shape.ts`, and loads the code that validates events when it first follows some.
 */
export function withoutSchemas(): Plugin {
  return {
    name: 'without-schemas',
    enforce: 'pre',
    resolveId(source, importer = '') {
      if (source === '@review/contract')
        return importer === `${CLIENT}problem.js` ? local('src/problem-shape.ts') : EXPORTS;
      if (source === './events.js' && importer === `${CLIENT}client.js`) return LAZY_EVENTS;
      if (!importer.endsWith(LIGHT) || !source.startsWith('./')) return undefined;
      return source === './contract.js' ? ROUTES : CONTRACT + source.slice(2) + LIGHT;
    },
    load(id) {
      if (id === EXPORTS) return { code: exportsSource(), moduleSideEffects: false };
      if (id === ROUTES) return routesSource();
      if (id === LAZY_EVENTS) {
        const events = JSON.stringify(`${CLIENT}events.js`);
        return `export async function* followEvents(...call) { yield* (await import(${events})).followEvents(...call); }`;
      }
      if (!id.endsWith(LIGHT)) return undefined;
      return { code: readFileSync(id.slice(0, -LIGHT.length), 'utf8'), moduleSideEffects: false };
    },
    transform(code, id) {
      return id.startsWith(CONTRACT) ? markPure(code, this.parse(code)) : undefined;
    },
  };
}

function exportsSource(): string {
  const file = JSON.stringify(`${CONTRACT}index.js`);
  const light = JSON.stringify(`${CONTRACT}index.js${LIGHT}`);
  return Object.entries(everything)
    .map(([name, value]) => `export { ${name} } from ${name !== 'contract' && hasSchema(value) ? file : light};`)
    .join('\n');
}

const hasSchema = (value: unknown): boolean =>
  value instanceof z.core.$ZodType ||
  (typeof value === 'object' && value !== null && Object.values(value).some(hasSchema));

const routesSource = () =>
  `import { NO_BODY } from ${JSON.stringify(`${CONTRACT}endpoint.js${LIGHT}`)};
export const contract = ${sourceOf(routesOf(everything.contract))};`;

/** The routes as the console and the client read them, with the maximum lengths of the fields of their bodies. */
const routesOf = (rooms: Contract) =>
  Object.fromEntries(
    Object.entries<Record<string, Route>>(rooms).map(([room, verbs]) => [
      room,
      Object.fromEntries(Object.entries(verbs).map(([verb, route]) => [verb, dataOf(route)])),
    ]),
  );

function dataOf({ method, path, responses, metadata, ...rest }: Route): object {
  return {
    method,
    path,
    body: 'body' in rest ? boundsOf(rest.body) : undefined,
    responses: Object.fromEntries(Object.entries(responses).map(([status, response]) => [status, formOf(response)])),
    metadata,
  };
}

const formOf = (response: unknown): unknown =>
  typeof response === 'object' && response !== null && 'contentType' in response
    ? { contentType: response.contentType }
    : typeof response === 'symbol'
      ? response
      : {};

function boundsOf(schema: unknown): unknown {
  if (!(schema instanceof z.core.$ZodType)) return schema;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return boundsOf(schema.unwrap());
  const { maxLength, maxItems } = z.globalRegistry.get(schema) ?? {};
  if (maxLength !== undefined || maxItems !== undefined) return { maxLength: maxLength ?? maxItems };
  if (schema instanceof z.ZodPipe) return { out: boundsOf(schema.out) };
  if (!(schema instanceof z.ZodObject)) return {};
  return { shape: Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, boundsOf(field)])) };
}

/** Returns the source of a value; the only symbol in it is the contract's. */
function sourceOf(value: unknown): string {
  if (typeof value === 'symbol') return 'NO_BODY';
  if (Array.isArray(value)) return `[${value.map(sourceOf).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  return `{${entries.map(([name, entry]) => `${JSON.stringify(name)}:${sourceOf(entry)}`).join(',')}}`;
}

/** Wraps the initial values of a module's constants in pure calls, so that the bundler removes those that are not used. */
function markPure(code: string, { body }: ESTree.Program): string {
  const values = body
    .map((statement) => (statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement))
    .flatMap((statement) => (statement?.type === 'VariableDeclaration' ? statement.declarations : []))
    .flatMap(({ init }) => (init === null || init.type === 'ArrowFunctionExpression' ? [] : [init]));
  return values.reduceRight(
    (marked, { start, end }) =>
      `${marked.slice(0, start)}/* @__PURE__ */ (() => (${marked.slice(start, end)}))()${marked.slice(end)}`,
    code,
  );
}
