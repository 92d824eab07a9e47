import { createClient } from '@review/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { freePort } from '../scripts/free-port.ts';
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

describe('behind proxies', { timeout: 300_000 }, () => {
  const proxies = new Map<string, RunningProxy>();
  let service: Service;
  let secondPort: string;
  let second: Program;
  beforeAll(async () => {
    const settings = { DRAIN_SECONDS: '5', TRUST_PROXY: '1' };
    service = await Service.start(settings, { postgres: inject('postgresUrl') });
    secondPort = await freePort();
    second = await service.startServer({ PORT: secondPort });
    const ports = [new URL(service.url).port, secondPort] as const;
    for (const kind of PROXIES) proxies.set(kind.name, await startProxy(kind, ports));
  }, 120_000);
  afterAll(async () => {
    for (const proxy of proxies.values()) await proxy[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  test.each(PROXIES)(
    '$name: a rolling restart of two servers fails no request, even without retries',
    async ({ name }) => {
      let isOver = false;
      const loaded = load(proxies.get(name)?.url ?? '', service, () => isOver);
      const codes = [await service.server?.end('SIGTERM')];
      await service.startServer();
      codes.push(await second.end('SIGTERM'));
      second = await service.startServer({ PORT: secondPort });
      isOver = true;
      const { answered, failures } = await loaded;
      expect([codes, failures]).toEqual([[0, 0], []]);
      expect(answered).toBeGreaterThan(100);
    },
  );

  // The proxies wait at the same time.
  test('a wait of 50 seconds gets a response', async () => {
    const id = await service.generate('markdown');
    const waitBehind = async ([name, { url }]: [string, RunningProxy]) => {
      const client = createClient({ baseUrl: url, token: service.key, retries: 0 });
      const { data } = await client.files.get({ params: { id }, query: { wait: 50 } });
      return [name, data.status];
    };
    expect(await Promise.all([...proxies].map(waitBehind))).toEqual(PROXIES.map(({ name }) => [name, 'GENERATING']));
  });
});
