import { SCOPES } from '@review/contract';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createApp } from '../app.ts';
import { createGuard } from '../http/guard.ts';
import { enterContract } from '../http/implement.ts';
import { allOperations } from '../http/operations.ts';
import { type RouteTable, routeTable } from '../http/route-table.ts';
import { rooms } from '../rooms/index.ts';
import { onEachDatabase } from '../test/house.ts';
import { problemIn } from '../test/problem-in.ts';

const Described = z.object({
  openapi: z.string(),
  servers: z.tuple([z.object({ url: z.string() })]),
  paths: z.record(z.string(), z.record(z.string(), z.object({ operationId: z.string() }))),
});
const Stack = z.array(z.object({ route: z.object({ path: z.unknown() }).optional() }));

onEachDatabase(
  (house) => {
    const get = (path: string) => house().request(null, 'GET', path);
    const described = async () => Described.parse(await (await get('/api/openapi.json')).json());
    const addressOf = (path: string) => path.replace('{id}', house().projectId);

    describe('without a credential', () => {
      test.each([
        ['/healthz', 'application/json'],
        ['/readyz', 'application/json'],
        ['/metrics', 'text/plain'],
        ['/docs', 'text/html'],
        ['/docs/swagger-ui.css', 'text/css'],
        ['/docs/swagger-ui-bundle.js', 'text/javascript'],
        ['/docs/start.js', 'text/javascript'],
        ['/api/openapi.json', 'application/json'],
        ['/api/openapi-3.1.json', 'application/json'],
        ['/.well-known/oauth-protected-resource', 'application/json'],
      ])('%s', async (path, type) => {
        const answer = await get(path);
        expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([200, type]);
      });

      test('/readyz reports the database, the storage, the engine and missing workers', async () => {
        await expect
          .poll(async () => (await get('/readyz')).json())
          .toEqual({
            status: 'degraded',
            database: 'ok',
            storage: 'ok',
            engine: 'embedded',
            degraded: ['workers'],
          });
        expect(await (await get('/healthz')).json()).toEqual({ status: 'ok' });
      });

      test('/.well-known/oauth-protected-resource describes this resource (RFC 9728)', async () => {
        expect(await (await get('/.well-known/oauth-protected-resource')).json()).toMatchObject({
          resource: 'https://review.example.com',
          bearer_methods_supported: ['header'],
          scopes_supported: [...SCOPES],
        });
      });

      test('/docs loads nothing from other origins', async () => {
        const answer = await get('/docs');
        expect(await answer.text()).not.toMatch(/https?:\/\//);
        expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'self'/);
      });

      test('/docs refuses to be framed', async () => {
        const { headers } = await get('/docs');
        expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
        expect(headers.get('x-frame-options')).toBe('DENY');
      });

      // A proxy that blocks `/metrics` compares bytes: no other spelling may reach the same page.
      test.each([
        '/METRICS',
        '/Metrics',
        '/metrics/',
        '//metrics',
        '/%6Detrics',
        '/metrics;a',
        '/Docs',
        '/DOCS/',
        '/docs/',
        '/DOCS/start.js',
        '/DOCS/swagger-ui.css',
        '/docs/start.js/',
        '/Healthz',
        '/healthz/',
        '/READYZ',
        '/readyz/',
        '/API/ping',
        '/api/ping/',
        '/api/OpenAPI.json',
        '/api/openapi.json/',
        '/Problems/not-found',
        '/problems/not-found/',
        '/.Well-Known/oauth-protected-resource',
        '/.well-known/oauth-protected-resource/',
        '/WORKER/hello',
        '/worker/hello/',
        '/worker//hello',
        '/MCP',
        '/mcp/',
      ])('%s is 404, although it resembles a path', async (path) => {
        await problemIn(await get(path), 'NOT_FOUND');
      });

      test('/metrics counts requests by operation and status, without personal data', async () => {
        await house().request('owner', 'GET', `/api/projects/${house().projectId}`);
        const text = await (await get('/metrics')).text();
        expect(text).toMatch(/http_request_duration_seconds_count\{operation="projects\.get",status="200"\} [1-9]/);
        expect(text).not.toContain(house().projectId);
      });

      test('only the documents are served from their directory', async () => {
        for (const path of ['/docs/..%2fpackage.json', '/docs/%2e%2e/%2e%2e/package.json', '/docs/nothing.js']) {
          expect((await get(path)).status, path).toBe(404);
        }
      });
    });

    describe('/api/openapi.json', () => {
      test('is OpenAPI 3.2 at the public address', async () => {
        const { openapi, servers } = await described();
        expect([openapi, servers[0].url]).toEqual(['3.2.0', 'https://review.example.com']);
      });

      test('lists exactly the paths of the routes; Express has no other under /api', async () => {
        const { deps } = house();
        const entered = new Set<string>();
        const table: RouteTable = { ...routeTable(), refuseOtherMethods: (path) => entered.add(path) };
        enterContract(table, deps, createGuard(deps), allOperations(rooms(deps), deps.config), () => []);
        const listed = Object.keys((await described()).paths);
        expect([...entered].map((path) => path.replace(':id', '{id}')).toSorted()).toEqual(listed.toSorted());

        const app = createApp({ ...deps, metrics: new Registry() });
        const routes = Stack.parse(app.others.router.stack).flatMap(({ route }) => (route ? [String(route.path)] : []));
        expect(routes.filter((path) => path.startsWith('/api'))).toEqual([]);
      });

      test('lists the methods that each path allows', async () => {
        for (const [path, operations] of Object.entries((await described()).paths)) {
          const { headers } = await house().request(null, 'OPTIONS', addressOf(path));
          const methods = new Set(Object.keys(operations).map((method) => method.toUpperCase()));
          const allowed = [...methods, 'OPTIONS', ...(methods.has('GET') ? ['HEAD'] : [])].toSorted().join(', ');
          expect(headers.get('allow'), path).toBe(allowed);
        }
      });

      test('each of its operations is there and needs a credential; every other method is 405', async () => {
        const { paths } = await described();
        const takes = (address: string, method: string) =>
          Object.entries(paths).some(([path, operations]) => method in operations && addressOf(path) === address);
        for (const path of Object.keys(paths)) {
          for (const method of ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'QUERY']) {
            const answer = await house().request(null, method, addressOf(path));
            const code = takes(addressOf(path), method.toLowerCase()) ? 'MISSING_CREDENTIAL' : 'METHOD_NOT_ALLOWED';
            await problemIn(answer, code);
          }
        }
      });
    });
  },
  { PUBLIC_URL: 'https://review.example.com' },
);
