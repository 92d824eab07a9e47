import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAMILIES, workerApi } from '@review/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../scripts/free-port.ts';
import { json, standIn } from './test/stand-in.ts';
import { startWorker } from './test/worker-process.ts';

/** Answers a registration and a claim alike. */
const WELCOME = { data: { engine: 'embedded', tasks: [], leaseSeconds: 30 } };
const NOT_YET = 'server does not answer; retrying until it does';

test('a worker registers with its name, families and token, and exits with 0 on SIGTERM', async () => {
  await using server = await standIn((response) => json(response, 200, WELCOME));
  await using worker = startWorker({ SERVER_URL: `${server.url}/`, WORKER_TOKEN: 'shared', WORKER_NAME: 'left' });
  expect(await worker.logged('ready')).toMatchObject({ engine: 'embedded' });
  expect(server.received.slice(0, 1)).toMatchObject([
    { method: 'POST', url: '/worker/hello', headers: { authorization: 'Bearer shared' } },
  ]);
  const report = workerApi.register.body.parse(server.received[0]?.body);
  expect(report.worker).toBe('left');
  expect(report.families.map(({ family }) => family)).toEqual([...FAMILIES]);
  worker.stop('SIGTERM');
  expect(await worker.finished).toMatchObject({ code: 0, errors: '' });
});

describe('REVIEW_ENV_FILE', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'review-worker-env-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('names a settings file; the environment takes precedence', async () => {
    await using server = await standIn((response) => json(response, 200, WELCOME));
    const file = join(folder, 'worker.env');
    await writeFile(file, `SERVER_URL=${server.url}\nWORKER_TOKEN=of-the-file\nWORKER_NAME=of-the-file\n`);
    await using worker = startWorker({ REVIEW_ENV_FILE: file, WORKER_NAME: 'of-the-environment' });
    await worker.logged('ready');
    expect(server.received[0]).toMatchObject({
      headers: { authorization: 'Bearer of-the-file' },
      body: { worker: 'of-the-environment' },
    });
  });

  test('that does not exist makes the worker exit with 1 and name the file', async () => {
    const file = join(folder, 'missing.env');
    await using worker = startWorker({ REVIEW_ENV_FILE: file, WORKER_TOKEN: 'shared' });
    const { code, errors } = await worker.finished;
    expect(code).toBe(1);
    expect(errors).toMatch(`The settings cannot be read from ${file}: ENOENT`);
  });
});

test('a worker exits with 0 on SIGINT, even if it is repeated', async () => {
  await using server = await standIn((response) => json(response, 200, WELCOME));
  await using worker = startWorker({ SERVER_URL: server.url, WORKER_TOKEN: 'shared' });
  await worker.logged('ready');
  worker.stop('SIGINT');
  worker.stop('SIGINT');
  expect((await worker.finished).code).toBe(0);
});

test('a worker retries to register until the server answers', async () => {
  await using server = await standIn((response, number) => {
    if (number === 1) response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
    else if (number === 2) response.destroy();
    else json(response, 200, WELCOME);
  });
  await using worker = startWorker({ SERVER_URL: server.url, WORKER_TOKEN: 'shared' });
  await worker.logged(NOT_YET);
  await worker.logged('ready');
  expect(server.received.filter(({ url }) => url === '/worker/hello')).toHaveLength(3);
});

test('a worker may start before its server', async () => {
  const port = await freePort();
  await using worker = startWorker({ SERVER_URL: `http://127.0.0.1:${port}`, WORKER_TOKEN: 'shared' });
  await worker.logged(NOT_YET);
  await using _server = await standIn((response) => json(response, 200, WELCOME), Number(port));
  expect(await worker.logged('ready')).toMatchObject({ level: 30 });
});

test('a worker waits for the upgrade of an older server, and takes no work from it', async () => {
  await using server = await standIn((response, number) => json(response, 200, WELCOME, number <= 2 ? 0 : undefined));
  await using worker = startWorker({ SERVER_URL: server.url, WORKER_TOKEN: 'shared' });
  await worker.logged('the server is older than this worker; waiting until it is upgraded');
  await worker.logged('ready');
  const firstClaim = () => server.received.findIndex(({ url }) => url?.endsWith('/claim'));
  await expect.poll(firstClaim).toBe(5);
  expect(server.received.slice(0, 5).map(({ url }) => url)).toEqual(Array(5).fill('/worker/hello'));
});

test('a worker with a refused token exits with 1 and the reason', async () => {
  await using server = await standIn((response) =>
    json(response, 401, {
      type: '/problems/invalid-credential',
      title: 'The credential is not valid',
      status: 401,
      code: 'INVALID_CREDENTIAL',
      detail: 'The WORKER_TOKEN of the worker and of the server differ.',
      instance: '/worker/hello',
      requestId: 'r',
    }),
  );
  await using worker = startWorker({ SERVER_URL: server.url, WORKER_TOKEN: 'wrong' });
  expect(await worker.finished).toMatchObject({
    code: 1,
    errors: 'The WORKER_TOKEN of the worker and of the server differ.\n',
  });
  expect(server.received).toHaveLength(1);
});

test('a worker exits with 0 on SIGTERM while it waits for the server', async () => {
  const port = await freePort();
  await using absent = startWorker({ SERVER_URL: `http://127.0.0.1:${port}`, WORKER_TOKEN: 'shared' });
  await absent.logged(NOT_YET);
  absent.stop();
  expect(await absent.finished).toMatchObject({ code: 0, errors: '' });

  const asked = Promise.withResolvers<void>();
  await using server = await standIn(() => asked.resolve());
  await using silent = startWorker({ SERVER_URL: server.url, WORKER_TOKEN: 'shared' });
  await asked.promise;
  silent.stop();
  expect(await silent.finished).toMatchObject({ code: 0, errors: '' });
});

test('WORKER_PORT serves health and metrics even before the server answers', async () => {
  const [port, serverPort] = [await freePort(), await freePort()];
  await using worker = startWorker({
    SERVER_URL: `http://127.0.0.1:${serverPort}`,
    WORKER_TOKEN: 'shared',
    WORKER_PORT: port,
  });
  await worker.logged(NOT_YET);
  const health = await fetch(`http://127.0.0.1:${port}/healthz`);
  expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
  const metrics = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(metrics.headers.get('content-type')).toContain('text/plain');
  expect(await metrics.text()).toContain('process_cpu_seconds_total');
  expect((await fetch(`http://127.0.0.1:${port}/api/ping`)).status).toBe(404);
  worker.stop();
  expect((await worker.finished).code).toBe(0);
});

test('a worker exits with 1 if WORKER_PORT is in use', async () => {
  await using server = await standIn((response) => json(response, 200, WELCOME));
  await using worker = startWorker({
    SERVER_URL: server.url,
    WORKER_TOKEN: 'shared',
    WORKER_PORT: String(server.port),
  });
  const { code, errors } = await worker.finished;
  expect(code).toBe(1);
  expect(errors).toContain(`Port ${server.port} is in use`);
  expect(errors).toContain('WORKER_PORT');
});

test('a worker exits with 1 and names each invalid setting', async () => {
  await using worker = startWorker({ DATA_DIR: '/nonexistent', WORKER_PORT: 'yes' });
  const { code, errors } = await worker.finished;
  expect(code).toBe(1);
  expect(errors).toContain('WORKER_TOKEN: ');
  expect(errors).toContain('WORKER_PORT: ');
  expect(errors).not.toMatch(/^\s+at /m);
});
