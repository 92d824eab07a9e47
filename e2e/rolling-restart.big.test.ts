import { createClient } from '@review/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { freePort } from './dev-process.ts';
import type { Program } from './processes.ts';
import { PROXIES, type RunningProxy, startProxy } from './proxies.ts';
import { Service } from './service.ts';

/** Sends requests continuously without retries until `isOver`. */
async function load(baseUrl: string, service: Service, isOver: () => boolean) {
  const client = createClient({ baseUrl, token: service.key, retries: 0 });
  const params = { id: service.projectId };
  const failures: string[] = [];
  let answered = 0;
  const calls = [
    () => client.ping.ping(),
    () => client.projects.list({ body: {} }),
    () => client.comments.create({ params, body: { content: 'Under load' } }),
  ];
  const caller = async (first: number) => {
    for (let turn = first; !isOver(); turn += 1) {
      await calls[turn % calls.length]?.().then(
        () => (answered += 1),
        (error: unknown) => failures.push(String(error)),
      );
    }
  };
  await Promise.all(calls.map((_, index) => caller(index)));
  return { answered, failures };
}

describe.each(PROXIES)('behind $name', { timeout: 300_000 }, (kind) => {
  let service: Service;
  let proxy: RunningProxy;
  let secondPort: string;
  let second: Program;
  beforeAll(async () => {
    const settings = { DRAIN_SECONDS: '5', TRUST_PROXY: '1' };
    service = await Service.start(settings, { postgres: inject('postgresUrl') });
    secondPort = await freePort();
    second = await service.startServer({ PORT: secondPort });
    proxy = await startProxy(kind, [new URL(service.url).port, secondPort]);
  }, 120_000);
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  test('a rolling restart of two servers fails no request, even without retries', async () => {
    let isOver = false;
    const loaded = load(proxy.url, service, () => isOver);
    const codes = [await service.server?.end('SIGTERM')];
    await service.startServer();
    codes.push(await second.end('SIGTERM'));
    second = await service.startServer({ PORT: secondPort });
    isOver = true;
    const { answered, failures } = await loaded;
    expect([codes, failures]).toEqual([[0, 0], []]);
    expect(answered).toBeGreaterThan(100);
  });

  test('a wait of 50 seconds gets a response, and private paths are not exposed', async () => {
    const client = createClient({ baseUrl: proxy.url, token: service.key, retries: 0 });
    const id = await service.generate('markdown');
    const { data } = await client.files.get({ params: { id }, query: { wait: 50 } });
    expect(data.status).toBe('GENERATING');
    for (const path of ['/metrics', '/worker/hello']) {
      expect([path, (await fetch(proxy.url + path, { method: 'POST' })).status]).toEqual([path, 404]);
    }
  });
});
