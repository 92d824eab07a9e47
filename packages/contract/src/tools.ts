import { z } from 'zod';
import { contract } from './contract.ts';
import { type Room, type Route, successStatus } from './endpoint.ts';
import { SUBJECT_IDS } from './ids.ts';
import { type Io, toInlineSchema } from './openapi-schemas.ts';

const ObjectSchema = z.object({
  properties: z.record(z.string(), z.json()).default({}),
  required: z.array(z.string()).default([]),
});
type Properties = z.infer<typeof ObjectSchema>['properties'];
type ObjectSchema = { type: 'object'; properties: Properties; required: string[]; additionalProperties?: false };

/** An MCP tool, derived from the route of an endpoint. */
export interface Tool {
  /** The room and verb of the endpoint. */
  operation: string;
  route: Route;
  /** The tool's entry in `tools/list`. */
  definition: {
    name: string;
    title: string;
    description: string;
    inputSchema: ObjectSchema;
    /** Absent if the endpoint answers without a body. */
    outputSchema?: ObjectSchema;
    annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean };
  };
  /** Splits the arguments of a call into the id, the query and the body of the request. */
  split(given: Readonly<Record<string, unknown>>): { id: unknown; query: unknown; body: unknown };
}

/** Returns a tool for every route with a tool name. */
export function contractTools(): Tool[] {
  const rooms: Record<string, Room> = contract;
  return Object.entries(rooms).flatMap(([room, routes]) =>
    Object.entries(routes).flatMap(([verb, route]) => {
      const name = route.metadata.tool;
      return name === undefined ? [] : [toolOf(name, `${room}.${verb}`, route)];
    }),
  );
}

function toolOf(name: string, operation: string, route: Route): Tool {
  const { subject } = route.metadata;
  const path: Properties = subject === null ? {} : { id: pathId(subject) };
  const query = fieldsOf(route.query);
  const body = fieldsOf('body' in route ? route.body : undefined);
  const output = schemaOf(route.responses[successStatus(route)], 'output');
  const properties = { ...path, ...query.properties, ...body.properties };
  const parts = [path, query.properties, body.properties].flatMap(Object.keys);
  const twice = parts.find((field, index) => parts.indexOf(field) !== index);
  // Tool arguments are flat, so path, query and body must not share a name.
  if (twice !== undefined)
    throw new Error(`${operation} has "${twice}" in two places of the request, so it cannot be a tool: rename one`);
  const required = [...Object.keys(path), ...query.required, ...body.required];
  const inQuery = (field: string) => Object.hasOwn(query.properties, field) || !('body' in route);
  return {
    operation,
    route,
    definition: {
      name,
      title: route.summary,
      description: [route.summary, route.description].filter(Boolean).join('. '),
      inputSchema: { type: 'object', properties, required, additionalProperties: false },
      ...(output !== null && { outputSchema: output }),
      annotations: annotationsOf(route),
    },
    split: ({ id, ...rest }) => {
      const fields = Object.entries(subject === null && id !== undefined ? { id, ...rest } : rest);
      return {
        id,
        query: Object.fromEntries(fields.filter(([field]) => inQuery(field))),
        body: Object.fromEntries(fields.filter(([field]) => !inQuery(field))),
      };
    },
  };
}

/** Derives the hints from the method and the success status. */
function annotationsOf(route: Route): Tool['definition']['annotations'] {
  const method: string = route.method;
  const reads = method === 'GET' || method === 'QUERY';
  const status = successStatus(route);
  return {
    readOnlyHint: reads,
    destructiveHint: !reads && status === 204,
    idempotentHint: reads || method === 'PATCH' || method === 'DELETE',
    // 202: an external provider does the work.
    openWorldHint: status === 202,
  };
}

const pathId = (subject: keyof typeof SUBJECT_IDS) => ({
  ...jsonSchema(SUBJECT_IDS[subject], 'input'),
  description: `The id of the ${subject.replaceAll('-', ' ')}.`,
});

const fieldsOf = (schema: unknown) => schemaOf(schema, 'input') ?? { properties: {}, required: [] };

function schemaOf(schema: unknown, io: Io): ObjectSchema | null {
  if (!(schema instanceof z.ZodType)) return null;
  return { type: 'object', ...ObjectSchema.parse(jsonSchema(schema, io)) };
}

/** Without references, because a tool's schema must be self-contained. */
const jsonSchema = (schema: z.ZodType, io: Io) => z.record(z.string(), z.json()).parse(toInlineSchema(schema, io));
