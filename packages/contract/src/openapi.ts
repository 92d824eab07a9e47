import { z } from 'zod';
import { contract } from './contract.ts';
import { EVENT_STREAM, type Room, type Route } from './endpoint.ts';
import { getForm } from './get-form.ts';
import { groupBy } from './group-by.ts';
import { SUBJECT_IDS } from './ids.ts';
import { type Io, namedSchemas, schemaRef, toJsonSchema } from './openapi-schemas.ts';
import { PROBLEMS, Problem, type ProblemCode } from './problem.ts';
import { refusalsOf, takesBody, takesIdempotencyKey } from './refusals.ts';

const isSchema = (value: unknown): value is z.ZodType => value instanceof z.ZodType;

const EVERY_ANSWER = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
};
const HEADERS = {
  RequestId: {
    description: 'The id of this request in the logs; a valid id in the request is kept.',
    schema: { type: 'string' },
  },
  RateLimit: {
    description: 'The remaining requests, and the seconds until the window ends.',
    schema: { type: 'string' },
    example: '"tier-2";r=19;t=42',
  },
  RateLimitPolicy: {
    description: 'The limit of this operation and its window in seconds.',
    schema: { type: 'string' },
    example: '"tier-2";q=20;w=60',
  },
  RetryAfter: { description: 'Seconds to wait before a retry.', schema: { type: 'integer', minimum: 1 } },
  Challenge: { description: 'What the credential lacks.', schema: { type: 'string' } },
  AcceptQuery: { description: 'The content type that QUERY accepts.', schema: { type: 'string' } },
  IdempotencyReplayed: {
    description: 'The answer is that of the first request with this key.',
    schema: { type: 'string', enum: ['true'] },
  },
  Location: { description: 'The URL of the created record.', schema: { type: 'string', format: 'uri' } },
  ETag: { description: 'The version of the record.', schema: { type: 'string' } },
};

export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: object[];
  requestBody?: object;
  responses: Record<string, object>;
  security: object[];
  'x-tool'?: string;
  'x-tier': string;
  'x-scopes': readonly string[];
  'x-roles': readonly string[];
  'x-only'?: string;
  'x-events'?: readonly string[];
}

function parameters(route: Route): object[] {
  const { subject } = route.metadata;
  const query = isSchema(route.query) ? toJsonSchema(route.query, 'input') : {};
  return [
    ...(subject === null
      ? []
      : [{ name: 'id', in: 'path', required: true, schema: toJsonSchema(SUBJECT_IDS[subject], 'input') }]),
    ...Object.entries(query.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: query.required?.includes(name) ?? false,
      schema,
      // Several values are separated by commas.
      ...(schema !== null && typeof schema === 'object' && schema.type === 'array' && { explode: false }),
    })),
    ...(takesIdempotencyKey(route) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...(route.metadata.ifMatch ? [{ $ref: '#/components/parameters/IfMatch' }] : []),
    ...(isStream(route) ? [{ $ref: '#/components/parameters/LastEventId' }] : []),
  ];
}

/** A response that is not JSON. */
function otherContent(answer: unknown): { contentType: string; body: z.ZodType } | null {
  if (typeof answer !== 'object' || answer === null || !('contentType' in answer) || !('body' in answer)) return null;
  const { contentType, body } = answer;
  return typeof contentType === 'string' && isSchema(body) ? { contentType, body } : null;
}

const isStream = (route: Route) =>
  Object.values(route.responses).some((answer) => otherContent(answer)?.contentType === EVENT_STREAM);

function successes(route: Route, openapi: string): [string, object][] {
  const headers = {
    ...EVERY_ANSWER,
    ...(takesIdempotencyKey(route) && { 'Idempotency-Replayed': { $ref: '#/components/headers/IdempotencyReplayed' } }),
    ...(route.metadata.conditional && { ETag: { $ref: '#/components/headers/ETag' } }),
    ...(route.metadata.location != null && { Location: { $ref: '#/components/headers/Location' } }),
  };
  const REASONS: Record<string, string> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No Content' };
  return Object.entries(route.responses).map(([status, answer]) => {
    const description = REASONS[status] ?? status;
    if (isSchema(answer)) return [status, { description, headers, content: content(answer, 'output') }];
    const other = otherContent(answer);
    if (other?.contentType === EVENT_STREAM)
      return [status, { description, headers, content: streamContent(other.body, openapi) }];
    if (other !== null)
      return [status, { description, headers, content: content(other.body, 'output', other.contentType) }];
    return [status, { description, headers }];
  });
}

const content = (schema: z.ZodType, io: Io, type = 'application/json') => ({
  [type]: { schema: toJsonSchema(schema, io) },
});

/** The fields of each server-sent event. Versions before 3.2 cannot describe the items of a stream. */
const streamContent = (item: z.ZodType, openapi: string) => ({
  [EVENT_STREAM]: openapi.startsWith('3.1')
    ? { schema: { type: 'string' } }
    : {
        itemSchema: {
          type: 'object',
          required: ['id', 'event', 'data'],
          properties: {
            id: schemaRef('EventId'),
            event: { type: 'string' },
            data: {
              type: 'string',
              contentMediaType: 'application/json',
              contentSchema: toJsonSchema(item, 'output'),
            },
          },
        },
      },
});

/** The problems of one status of an endpoint. Most endpoints share them with others. */
const sharedName = (codes: readonly ProblemCode[]) => codes.join('.');

const refusals = (route: Route) => groupBy(refusalsOf(route), (code) => PROBLEMS[code].status);

function refusal(status: number, codes: readonly ProblemCode[]): object {
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(' '),
    headers: {
      ...EVERY_ANSWER,
      ...((status === 401 || status === 403) && { 'WWW-Authenticate': { $ref: '#/components/headers/Challenge' } }),
      ...(status === 415 && { 'Accept-Query': { $ref: '#/components/headers/AcceptQuery' } }),
      ...(isRetryable(codes) && { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }),
    },
    content: { 'application/problem+json': { schema: schemaRef('Problem') } },
  };
}

const isRetryable = (codes: readonly ProblemCode[]) =>
  codes.some((code) => code === 'RATE_LIMITED' || code === 'IDEMPOTENCY_IN_PROGRESS');

function sharedRefusals(routes: Route[]): Record<string, object> {
  const shared = routes.flatMap((route) =>
    Array.from(refusals(route), ([status, codes]) => [sharedName(codes), refusal(status, codes)] as const),
  );
  return Object.fromEntries(shared.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const CONDITIONAL = 'Answers with an `ETag`; a request whose `If-None-Match` names it gets 304, which costs no rate.';

function operation(room: string, id: string, route: Route, openapi: string): OpenApiOperation {
  const { tool, tier, scopes, roles, only, conditional, events = [] } = route.metadata;
  const about = [route.description, conditional && CONDITIONAL].filter(Boolean).join(' ');
  const body = 'body' in route && takesBody(route) && isSchema(route.body) ? route.body : null;
  return {
    operationId: id,
    tags: [room],
    summary: route.summary,
    ...(about !== '' && { description: about }),
    parameters: parameters(route),
    ...(body !== null && {
      requestBody: { required: !body.safeParse(undefined).success, content: content(body, 'input') },
    }),
    responses: Object.fromEntries([
      ...successes(route, openapi),
      ...Array.from(refusals(route), ([status, codes]) => [
        status,
        { $ref: `#/components/responses/${sharedName(codes)}` },
      ]),
    ]),
    // Alternatives: any one scope is enough.
    security: scopes.length === 0 ? [{ bearer: [] }] : scopes.map((scope) => ({ bearer: [scope] })),
    ...(tool !== undefined && { 'x-tool': tool }),
    'x-tier': tier,
    'x-scopes': scopes,
    'x-roles': roles,
    ...(only !== undefined && { 'x-only': only }),
    ...(events.length > 0 && { 'x-events': events }),
  };
}

/** The schemas of all requests and responses. */
function schemasOf(routes: Route[], openapi: string) {
  const answers = routes.flatMap((route) => Object.values(route.responses));
  const isUndescribed = (type: string) => type === EVENT_STREAM && openapi.startsWith('3.1');
  const output = answers
    .map((answer) => {
      const other = otherContent(answer);
      return other === null ? answer : isUndescribed(other.contentType) ? null : other.body;
    })
    .filter(isSchema);
  const ids = routes.flatMap(({ metadata: { subject } }) => (subject === null ? [] : SUBJECT_IDS[subject]));
  const input = routes.flatMap((route) => [route.query, 'body' in route ? route.body : undefined]).filter(isSchema);
  return { output: [Problem, ...output], input: [...ids, ...input] };
}

/** The forms of an operation, each with its own id. */
function formsOf(id: string, route: Route, openapi: string): { id: string; route: Route }[] {
  const byGet = getForm(route);
  if (byGet === null) return [{ id, route }];
  if (openapi.startsWith('3.1')) return [{ id, route: byGet }];
  return [
    { id, route },
    { id: `${id}.get`, route: byGet },
  ];
}

export interface OpenApiDocument {
  openapi: string;
  info: object;
  servers: object[];
  tags: object[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: Record<string, object>;
}

export interface OpenApiEdition {
  version: string;
  serverUrl?: string;
  /** 3.2 is the first version with QUERY. Version 3.1, which generators read, has only the GET form of lists. */
  openapi?: '3.2.0' | '3.1.1';
}

/** Builds the OpenAPI document from the contract. */
export function openApiDocument({ openapi = '3.2.0', ...about }: OpenApiEdition): OpenApiDocument {
  const rooms: Record<string, Room> = contract;
  const described = Object.entries(rooms).flatMap(([room, routes]) =>
    Object.entries(routes).flatMap(([verb, route]) =>
      formsOf(`${room}.${verb}`, route, openapi).map((form) => ({ room, ...form })),
    ),
  );
  const paths: OpenApiDocument['paths'] = {};
  for (const { room, id, route } of described) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(room, id, route, openapi) };
  }
  return {
    openapi,
    info: {
      title: 'Project Review Service',
      version: about.version,
      description: 'Media projects, their review, and files generated with AI models.',
    },
    servers: [{ url: about.serverUrl ?? '/' }],
    tags: Object.keys(rooms).map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key or an OAuth access token.' },
      },
      parameters: {
        IfMatch: {
          name: 'If-Match',
          in: 'header',
          description: 'The ETag of the record as it was read. If the record has changed since, the answer is 412.',
          schema: { type: 'string' },
        },
        LastEventId: {
          name: 'Last-Event-ID',
          in: 'header',
          description: 'The id of the last event that was received. The stream continues after it.',
          schema: schemaRef('EventId'),
        },
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          description:
            'Makes a retry safe: a request with the same key and body returns the first answer. Keys are kept for 24 hours.',
          schema: { type: 'string', minLength: 1, maxLength: 255 },
        },
      },
      headers: HEADERS,
      responses: sharedRefusals(described.map(({ route }) => route)),
      schemas: namedSchemas(
        schemasOf(
          described.map(({ route }) => route),
          openapi,
        ),
      ),
    },
  };
}
