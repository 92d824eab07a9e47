import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contract, openApiDocument, type Room } from './index.ts';

const fromRoot = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const { version } = JSON.parse(fromRoot('package.json'));
const document = openApiDocument({ version });
const json = JSON.stringify(document, null, 2);
const at = (method: string, path: string) => document.paths[path]?.[method];

const forGenerators = openApiDocument({ version, openapi: '3.1.1' });

it.each([
  ['docs/openapi.json', document],
  ['docs/openapi-3.1.json', forGenerators],
])('%s is up to date', (file, described) => {
  const isFresh = fromRoot(file) === `${JSON.stringify(described, null, 2)}\n`;
  expect(isFresh, `${file} is stale: run \`npm run snapshot\`.`).toBe(true);
});

describe('the edition for generators', () => {
  const operationsOf = (described: typeof document) =>
    Object.entries(described.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({ method, path, operationId })),
    );

  it('has every operation once, under the same name, its lists by GET', () => {
    const all = operationsOf(document).filter(({ operationId }) => !operationId.endsWith('.get'));
    const expected = all.map((one) => ({ ...one, method: one.method === 'query' ? 'get' : one.method }));
    // Ids such as projects.get have the same ending as the GET form of a list.
    const reads = operationsOf(forGenerators).filter(({ operationId }) => !/^\w+\.get$/.test(operationId));
    expect(reads).toEqual(expected);
  });

  it('avoids keywords that generators do not support', () => {
    const found: string[] = [];
    const walk = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [key, value] of Object.entries(node)) {
        if (key === 'const' || (key === 'pattern' && typeof value === 'string' && value.includes('\\p{'))) {
          found.push(`${path}/${key}`);
        }
        if (key === 'default' && typeof value === 'object' && !path.endsWith('/properties'))
          found.push(`${path}/${key}`);
        if (key === 'type' && value === 'null' && path.includes('/not/')) found.push(`${path}/${key}`);
        walk(value, `${path}/${key}`);
      }
    };
    walk(forGenerators, '');
    expect(found).toEqual([]);
  });

  it('has the bounds of the server', () => {
    const schemas = JSON.stringify(forGenerators.components['schemas']);
    expect(JSON.parse(schemas).NewUpload.properties).toMatchObject({
      name: { minLength: 1, maxLength: 255, pattern: '^[^/\\\\\\x00-\\x1f\\x7f-\\x9f]*$' },
      size: { minimum: 1, maximum: 5 * 1024 ** 3 },
      mimeType: { pattern: '^[^\\x00]*$' },
    });
    expect(JSON.stringify(document.paths['/api/projects']?.['query']?.requestBody)).toContain(
      '"not":{"required":["next","prev"]}',
    );
  });
});

it('has every operation of the contract once, and QUERY lists also by GET', () => {
  const rooms: Record<string, Room> = contract;
  const keys = Object.entries(rooms).flatMap(([room, verbs]) =>
    Object.entries(verbs).flatMap(([verb, route]) => {
      const id = `${room}.${verb}`;
      return String(route.method) === 'QUERY' ? [id, `${id}.get`] : [id];
    }),
  );
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(operations.map((operation) => operation.operationId).sort()).toEqual(keys.sort());
});

it('has no dangling reference', () => {
  const references = new Set(Array.from(json.matchAll(/"\$ref": "([^"]+)"/g), (match) => match[1] ?? ''));
  expect(references.size).toBeGreaterThan(20);
  for (const reference of references) {
    const found = reference
      .replace('#/', '')
      .split('/')
      .reduce<unknown>(
        (node, step) => (typeof node === 'object' && node !== null ? Reflect.get(node, step) : undefined),
        document,
      );
    expect(found, reference).toBeDefined();
  }
});

it('has no unused component', () => {
  for (const [kind, named] of Object.entries(document.components)) {
    if (kind === 'securitySchemes') continue;
    for (const name of Object.keys(named)) expect(json).toContain(`"#/components/${kind}/${name}"`);
  }
});

describe('an operation', () => {
  it('has its rules as extensions', () => {
    expect(at('post', '/api/projects/{id}/files/upload.generate')).toMatchObject({
      operationId: 'generation.generate',
      security: [{ bearer: ['ai:generate'] }],
      'x-tool': 'generate_file',
      'x-tier': 'tier-2',
      'x-scopes': ['ai:generate'],
      'x-roles': ['PROJECT_OWNER', 'PROJECT_MANAGER', 'PROJECT_MEMBER'],
      'x-events': ['file.created', 'file.generation.queued'],
    });
    expect(at('post', '/api/files/{id}/upload.cancel')?.security).toEqual([
      { bearer: ['ai:generate'] },
      { bearer: ['files:write'] },
    ]);
  });

  it('answers with the problems that its rules imply', () => {
    const statuses = (method: string, path: string) => Object.keys(at(method, path)?.responses ?? {}).join(' ');
    expect(statuses('get', '/api/ping')).toBe('200 401 429 500');
    expect(statuses('get', '/api/projects/{id}/members')).toBe('200 401 403 404 429 500');
    expect(statuses('query', '/api/projects')).toBe('200 400 401 403 413 415 429 500');
    expect(statuses('get', '/api/projects')).toBe('200 400 401 403 429 500');
    expect(statuses('delete', '/api/folders/{id}')).toBe('204 400 401 403 404 409 422 429 500');
    expect(statuses('post', '/api/comments/{id}/reactions')).toBe('204 400 401 404 409 413 415 422 429 500');
    expect(statuses('post', '/api/project-access-links/redeem')).toBe('201 400 401 404 409 413 415 422 429 500');
    expect(statuses('patch', '/api/skills/{id}')).toBe('204 400 401 403 404 409 412 413 415 422 429 500');
  });

  it('keeps the dotted names of query parameters, with their defaults', () => {
    expect(at('get', '/api/projects/{id}/versions')?.parameters).toEqual([
      { name: 'id', in: 'path', required: true, schema: { $ref: '#/components/schemas/Uuid' } },
      {
        name: 'page',
        in: 'query',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 100, default: 1, description: expect.any(String) },
      },
      {
        name: 'sort.type',
        in: 'query',
        required: false,
        schema: { type: 'string', enum: ['name', 'createdAt'], default: 'createdAt', description: expect.any(String) },
      },
      {
        name: 'sort.direction',
        in: 'query',
        required: false,
        schema: { type: 'string', enum: ['asc', 'desc'], default: 'desc', description: expect.any(String) },
      },
    ]);
  });

  it('takes an Idempotency-Key on POST, PATCH and DELETE only', () => {
    for (const path of Object.values(document.paths)) {
      for (const [method, operation] of Object.entries(path)) {
        const takes = JSON.stringify(operation.parameters).includes('#/components/parameters/IdempotencyKey');
        expect(takes, operation.operationId).toBe(['post', 'patch', 'delete'].includes(method));
      }
    }
  });

  it('has a Location header with every 201 that creates a readable record', () => {
    const withoutLocation = Object.values(document.paths).flatMap((path) =>
      Object.values(path).flatMap(({ operationId, responses }) =>
        '201' in responses && !JSON.stringify(responses['201']).includes('/headers/Location') ? [operationId] : [],
      ),
    );
    expect(withoutLocation.sort()).toEqual([
      'accessLinks.redeem',
      'attachments.start',
      'attachments.startForGeneration',
      'attachments.startOnFile',
      'folders.create',
      'members.add',
    ]);
  });

  it('has the content type of its answer', () => {
    expect(at('get', '/api/skills/{id}/export')?.responses['200']).toMatchObject({
      content: { 'text/markdown': { schema: { type: 'string' } } },
    });
    expect(at('get', '/api/projects/{id}/events')?.responses['200']).toMatchObject({
      content: {
        'text/event-stream': {
          itemSchema: { properties: { data: { contentSchema: { $ref: '#/components/schemas/Event' } } } },
        },
      },
    });
    expect(at('delete', '/api/comments/{id}/reactions')?.requestBody).toMatchObject({ required: false });
    expect(at('post', '/api/comments/{id}/resolve')?.requestBody).toBeUndefined();
  });
});

it('names the server URL', () => {
  expect(openApiDocument({ version, serverUrl: 'https://review.example' }).servers).toEqual([
    { url: 'https://review.example' },
  ]);
});

it('keeps the private worker API out', () => {
  expect(json).not.toContain('/worker/');
});
