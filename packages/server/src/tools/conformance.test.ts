import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type House, openHouse } from '../test/house.ts';

/** The scenarios of the conformance suite that do not need the suite's own tools, resources or prompts. */
const SCENARIOS = {
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'server-sse-multiple-streams',
    'resources-list',
    'sep-2164-resource-not-found',
    'dns-rebinding-protection',
    'caching',
    'input-required-result-unsupported-methods',
    'http-header-validation',
  ],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'resources-list', 'dns-rebinding-protection'],
};

/** Checks in them that need prompts or the suite's diagnostic tools. */
const NOT_APPLICABLE = [
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2549-prompts-list-caching-hints',
];

const SUITE = dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/package.json')));
const Checks = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }));

describe.each(Object.entries(SCENARIOS))('%s', (version, scenarios) => {
  let house: House & AsyncDisposable;
  const folder = mkdtempSync(join(tmpdir(), 'review-conformance-'));
  /** A proxy that adds a credential, which the suite does not send. */
  const way = createServer((request, response) => {
    const { hostname, port } = new URL(house.url);
    const headers = { ...request.headers, authorization: `Bearer ${house.people.owner.key}` };
    const passed = send({ hostname, port, path: request.url, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed.on('error', () => response.destroy()));
  });

  beforeAll(async () => {
    house = await openHouse('sqlite', { RATE_LIMITS: 'off' });
    way.listen(0, '127.0.0.1');
    await once(way, 'listening');
    const address = way.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const words = ['--url', `http://127.0.0.1:${port}/mcp`, '--requirements', version, '--output-dir', folder];
    const suite = spawn(process.execPath, [join(SUITE, 'dist/index.js'), 'server', ...words], { stdio: 'ignore' });
    await once(suite, 'close');
  }, 120_000);
  afterAll(async () => {
    way.close();
    way.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
    await house[Symbol.asyncDispose]();
  });

  test.each(scenarios)('%s', (scenario) => {
    const results = readdirSync(folder).find((name) => name.startsWith(`server-${scenario}-20`));
    const checks = Checks.parse(JSON.parse(readFileSync(join(folder, results ?? '', 'checks.json'), 'utf8')));
    expect(checks.map(({ status }) => status)).toContain('SUCCESS');
    const failed = checks.filter(({ id, status }) => status === 'FAILURE' && !NOT_APPLICABLE.includes(id));
    expect(failed).toEqual([]);
  });
});
