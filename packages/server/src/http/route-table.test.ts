import { Agent, createServer, type IncomingHttpHeaders, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { contract, type Endpoint, getForm, NO_BODY, type Room, workerApi } from '@review/contract';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ProblemError } from '../request/problem.ts';
import { bind } from './bind.ts';
import { validate } from './operations.ts';
import { isQuery } from './query-method.ts';
import { routeTable } from './route-table.ts';

const rooms: Record<string, Room> = contract;
const publicRoutes = Object.values(rooms)
  .flatMap((room) => Object.values(room))
  .flatMap((route) => [route, getForm(route) ?? []].flat());
const get = (path: string): Endpoint => ({ method: 'GET', path, summary: '', responses: { 200: z.null() } });
const remove = (path: string): Endpoint => ({ ...get(path), method: 'DELETE', body: NO_BODY });
/** Shapes that the contract does not have. */
const OTHER_ROUTES = [
  get('/two/:first/and/:second'),
  remove('/two/:first/and/:second'),
  get('/two/:first/and/more'),
  remove('/two/one/and/:second'),
  get('/ending/'),
];
const ROUTES: Endpoint[] = [...publicRoutes, ...Object.values(workerApi), ...OTHER_ROUTES];
/** As of the public API. The worker API passes other methods on. */
const REFUSING = new Set(publicRoutes.map(({ path }) => path));
const VERBS = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`;
const report = (response: Response, route: string, params: object) =>
  response.set({ 'X-Route': route, 'X-Params': encodeURIComponent(JSON.stringify({ ...params })) });

function byTable(app: Express): void {
  const table = routeTable();
  const operations = ROUTES.map((route) => ({
    name: nameOf(route),
    route,
    handler: async () => null,
    respond: validate,
    changes: false,
  }));
  bind(table, operations, ({ name }) => async ({ request, response }) => {
    report(response, name, request.params);
    return 'null';
  });
  for (const path of REFUSING) table.refuseOtherMethods(path);
  app.use(table.handle);
}

/** The same routes as a list of Express. */
function byExpress(app: Express): void {
  const paths = Map.groupBy(ROUTES, ({ path }) => path);
  for (const [path, routes] of [...paths].sort(([a], [b]) => literalFirst(a.split('/'), b.split('/')))) {
    for (const route of routes) {
      const handler: RequestHandler = (request, response) => {
        report(response, nameOf(route), request.params).end();
      };
      if (!isQuery(route)) app[VERBS[route.method]](path, handler);
      else app.all(path, (request, _response, next) => next(request.method === 'QUERY' ? undefined : 'route'), handler);
    }
    if (!REFUSING.has(path)) continue;
    const methods = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [String(method)]));
    const allow = ['OPTIONS', ...methods].sort().join(', ');
    app.all(path, (request, response) => {
      if (request.method !== 'OPTIONS') throw new ProblemError('METHOD_NOT_ALLOWED', { headers: { Allow: allow } });
      response.set('Allow', allow).status(204).end();
    });
  }
}

function literalFirst(a: string[], b: string[]): number {
  const rank = (text = '') => (text.startsWith(':') ? 1 : 0);
  return a.map((text, index) => rank(text) - rank(b[index])).find((difference) => difference !== 0) ?? 0;
}

const reportError: ErrorRequestHandler = (error, _request, response, _next) => {
  const headers = error instanceof ProblemError ? error.headers : {};
  response.set({ ...headers, 'X-Error': error instanceof Error ? error.name : 'unknown' });
  response.status(error instanceof ProblemError ? error.status : 400).end();
};

/** Configured like the app of the service. */
function appOf(enter: (app: Express) => void): Express {
  const app = express().enable('case sensitive routing').enable('strict routing');
  enter(app);
  app.use((_request, response) => {
    response.status(404).end();
  });
  return app.use(reportError);
}

const apps = { table: appOf(byTable), express: appOf(byExpress) };
const server = createServer((request, response) =>
  apps[request.headers['x-router'] === 'table' ? 'table' : 'express'](request, response),
);
const agent = new Agent({ keepAlive: true });
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  agent.destroy();
  server.close();
});

/** Sends the path as it is: `fetch` would normalize it. */
async function outcome(router: keyof typeof apps, method: string, path: string) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status?: number; headers: IncomingHttpHeaders }>();
  send({ port, agent, method, path, headers: { 'x-router': router, 'content-length': 0 } }, (answer) => {
    answer.resume().once('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers }));
  })
    .once('error', reject)
    .end();
  const { status, headers } = await promise;
  // ts-rest chooses the status of a success.
  const succeeded = headers['x-route'] !== undefined;
  return {
    status: succeeded ? 'success' : status,
    route: headers['x-route'],
    params: headers['x-params'],
    allow: headers.allow,
    error: headers['x-error'],
  };
}

const SEGMENTS = ROUTES.flatMap(({ path }) => path.split('/')).filter((text) => !text.startsWith(':'));
const segment = fc.oneof(
  fc.constantFrom(...SEGMENTS),
  fc.constantFrom(
    '',
    '.',
    '..',
    ':id',
    '*',
    '%',
    '%E0%A4%A',
    '%C3',
    '%2F',
    '%2f..',
    '%00',
    'a%20b',
    '%F0%9F%8E%AC',
    'a;b',
    'a+b',
    '__proto__',
  ),
  fc.uuid(),
  fc.string({ unit: fc.constantFrom(..."abzAZ09-._~!$&'()*+,;=:@%") }),
);
/** Paths of the routes, with the parameters filled in and then altered at times. */
const path = fc
  .constantFrom(...ROUTES.map((route) => route.path))
  .chain((route) => fc.tuple(...route.split('/').map((text) => (text.startsWith(':') ? segment : fc.constant(text)))))
  .chain((texts) =>
    fc.oneof(
      { weight: 4, arbitrary: fc.constant(texts) },
      fc.tuple(fc.nat({ max: texts.length }), segment).map(([index, text]) => texts.toSpliced(index, 1, text)),
      fc.tuple(fc.nat({ max: texts.length }), segment).map(([index, text]) => texts.toSpliced(index, 0, text)),
      fc.nat({ max: texts.length }).map((index) => texts.toSpliced(index, 1)),
      fc.constant(texts.map((text) => text.toUpperCase())),
      fc.constant([...texts, '']),
    ),
  )
  .map((texts) => `/${texts.join('/').replace(/^\//, '')}`);
const suffix = fc.constantFrom('', '', '?', '?a=/b', '?%');
const method = fc.constantFrom('GET', 'HEAD', 'QUERY', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND');

test('the table chooses the route, the parameters and the refusal that Express would', async () => {
  await fc.assert(
    fc.asyncProperty(method, path, suffix, async (asked, to, query) => {
      expect(await outcome('table', asked, to + query)).toEqual(await outcome('express', asked, to + query));
    }),
    { numRuns: 1500 },
  );
});

test('every route of the contract and of the worker API is found', async () => {
  for (const route of ROUTES) {
    const to = route.path.replaceAll(/:\w+/g, 'a%2Fb');
    const found = await outcome('table', route.method, to);
    expect(found).toEqual(await outcome('express', route.method, to));
    expect(found).toMatchObject({ status: 'success', route: nameOf(route) });
  }
});

test.each([
  ['a literal path wins over a parameter', 'GET', '/two/a/and/more', 'GET /two/:first/and/more'],
  [
    'another method of a literal path goes to the parameter',
    'DELETE',
    '/two/a/and/more',
    'DELETE /two/:first/and/:second',
  ],
  [
    'a path without the method goes back to an earlier parameter',
    'GET',
    '/two/one/and/b',
    'GET /two/:first/and/:second',
  ],
  ['an endpoint of the workers', 'GET', '/worker/tasks/claim', 'GET /worker/tasks/:id'],
  ['HEAD is answered by GET', 'HEAD', '/api/ping', 'GET /api/ping'],
])('%s', async (_what, asked, to, route) => {
  expect(await outcome('table', asked, to)).toMatchObject({ status: 'success', route });
});

test('refuses two routes of one method and path', () => {
  const operation = { name: 'a', route: get('/a'), handler: async () => null, respond: validate, changes: false };
  expect(() => bind(routeTable(), [operation, operation], () => async () => 'null')).toThrow('GET /a has two routes');
});
