import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parseS3Address } from '../packages/server/src/storage/s3-address.ts';
import { freePort } from '../scripts/free-port.ts';
import {
  type ComposeService,
  environmentOf,
  onThisHost,
  readCompose,
  readImage,
  runService,
  VARIABLES,
} from './compose.ts';
import { createKey, useService, waitForAnswer } from './deployed.ts';
import { readAsServer, readAsWorker, WORKER_STOP_SECONDS } from './deployed-settings.ts';
import { readOutput } from './processes.ts';

const FILES = ['compose.yaml', 'compose.full.yaml'] as const;
/** Our own services by the program that they run. */
function ours(file: (typeof FILES)[number]) {
  const services = Object.entries(readCompose(file, VARIABLES[file]).services);
  const running = (target: string) => services.filter(([, { build }]) => build?.target === target);
  return { servers: running('server'), workers: running('worker') };
}

const asServer = (service: ComposeService) => readAsServer(environmentOf(service));
const asWorker = (service: ComposeService) => readAsWorker(environmentOf(service));

const secondsOf = (service: ComposeService) => Number.parseInt(service.stop_grace_period ?? '10s', 10);

describe.each(FILES)('%s', (file) => {
  const { services, networks, volumes } = readCompose(file, VARIABLES[file]);
  const { servers, workers } = ours(file);

  test('the programs accept their settings and ignore none', () => {
    for (const [, server] of servers) {
      const { config, ignored } = asServer(server);
      expect(ignored).toEqual([]);
      expect(config).toMatchObject({
        production: true,
        port: 3000,
        publicUrl: 'https://review.example.com',
        secretKey: 's'.repeat(64),
        workerToken: 'w'.repeat(64),
        previousSecretKey: null,
        trustProxy: 1,
      });
    }
    for (const [name, worker] of workers) {
      const { config, ignored } = asWorker(worker);
      expect(ignored).toEqual([]);
      expect(config).toMatchObject({ name, token: 'w'.repeat(64), port: 9000 });
    }
  });

  test('the programs have time to stop', () => {
    for (const [, server] of servers) {
      const { drainSeconds, shutdownSeconds } = asServer(server).config;
      expect(secondsOf(server)).toBeGreaterThan(drainSeconds + shutdownSeconds);
    }
    for (const [, worker] of workers) expect(secondsOf(worker)).toBeGreaterThan(WORKER_STOP_SECONDS);
  });

  test('our containers are read-only, have no privileges and write to volumes only', () => {
    for (const [, service] of [...servers, ...workers]) {
      expect(service).toMatchObject({
        read_only: true,
        tmpfs: ['/tmp'],
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        restart: 'unless-stopped',
        logging: { options: { 'max-size': '50m' } },
      });
    }
    const data = (service: ComposeService) => service.volumes.map((volume) => volume.split(':')[1]);
    for (const [, server] of servers)
      if (asServer(server).config.database.dialect === 'sqlite') expect(data(server)).toContain('/data');
    for (const [, worker] of workers) {
      expect(asWorker(worker).config.workDirectory).toMatch(/^\/data\//);
      expect(data(worker)).toContain('/data');
    }
  });

  test('secrets are in the .env file, and a missing one is named', () => {
    for (const name of Object.keys(VARIABLES[file])) {
      expect(() => readCompose(file, { ...VARIABLES[file], [name]: '' })).toThrow(`${name} is missing`);
    }
  });

  test('every network, volume and service that is named exists', () => {
    for (const [name, service] of Object.entries(services)) {
      const named = Array.isArray(service.networks) ? service.networks : Object.keys(service.networks);
      expect([name, named.filter((network) => !(network in networks))]).toEqual([name, []]);
      const own = service.volumes.map((volume) => volume.split(':')[0] ?? '').filter((volume) => /^\w/.test(volume));
      expect([name, own.filter((volume) => !(volume in volumes))]).toEqual([name, []]);
      expect([name, Object.keys(service.depends_on).filter((other) => !(other in services))]).toEqual([name, []]);
    }
  });
});

test('one box listens on this host only and its worker reaches the server', () => {
  const { services } = readCompose('compose.yaml', VARIABLES['compose.yaml']);
  expect(Object.values(services).flatMap(({ ports }) => ports)).toEqual(['127.0.0.1:3000:3000']);
  const { servers, workers } = ours('compose.yaml');
  expect(servers.map(([, server]) => asServer(server).config.database)).toEqual([
    { dialect: 'sqlite', path: '/data/review.db' },
  ]);
  expect(workers.map(([, worker]) => asWorker(worker).config.serverUrl)).toEqual([`http://${servers[0]?.[0]}:3000`]);
});

test('of the full file only the proxy is public, and it forwards to every server and to the bucket', () => {
  const { services } = readCompose('compose.full.yaml', VARIABLES['compose.full.yaml']);
  const published = Object.entries(services).flatMap(([name, { ports }]) => ports.map((port) => `${name} ${port}`));
  expect(published).toEqual(['proxy 80:80', 'proxy 443:443', 'temporal-ui 127.0.0.1:8233:8080']);
  const { servers, workers } = ours('compose.full.yaml');
  const proxy = services['proxy']?.environment ?? {};
  expect([proxy['SERVER_1'], proxy['SERVER_2']]).toEqual(
    servers.map(([name, server]) => `${name}:${asServer(server).config.port}`),
  );
  for (const [, server] of servers) {
    const { database, engine, storageUrl } = asServer(server).config;
    expect([database.dialect, engine]).toEqual(['postgres', 'temporal']);
    const { bucket, endpoint } = parseS3Address(storageUrl);
    expect([bucket, endpoint]).toEqual([proxy['BUCKET'], 'https://review.example.com']);
  }
  expect(services['proxy']?.networks).toMatchObject({ outside: { aliases: ['review.example.com'] } });
  expect(workers.map(([, worker]) => asWorker(worker).config.serverUrl)).toEqual(
    workers.map(() => `http://proxy${proxy['PRIVATE_BIND']}`),
  );
});

describe('one box, as processes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'review-compose-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('serves callers and the console, generates, answers its health checks and stops in time', async () => {
    const [port, workerPort] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${port}`;
    const { services } = readCompose('compose.yaml', { ...VARIABLES['compose.yaml'], PUBLIC_URL: url });
    const { server: serverService, worker: workerService } = services;
    if (serverService === undefined || workerService === undefined) throw new Error('a service is missing');
    await using server = runService(serverService, join(folder, 'server'), { PORT: port });
    await waitForAnswer('the server', `${url}/readyz`, server);
    const addresses = { SERVER_URL: url, WORKER_PORT: workerPort };
    await using worker = runService(workerService, join(folder, 'worker'), addresses);
    await worker.waitForOutput('"ready"');

    const settings = onThisHost(environmentOf(serverService), join(folder, 'server'));
    await useService(url, await createKey(settings));
    expect(await (await fetch(`${url}/`)).text()).toContain('<div id="console">');
    for (const [target, ports] of [
      ['server', { PORT: port }],
      ['worker', { WORKER_PORT: workerPort }],
    ] as const) {
      const [, ...words] = readImage(target).healthCheck;
      expect(await readOutput(process.execPath, words, ports)).toBe('');
      const closed = Object.fromEntries(Object.keys(ports).map((name) => [name, '1']));
      await expect(readOutput(process.execPath, words, closed)).rejects.toThrow('code 1');
    }
    expect([await worker.end('SIGTERM'), await server.end('SIGTERM')]).toEqual([0, 0]);
  });
});
