import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createClient, download, upload } from '@review/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { lacksOpenssl, selfSigned } from '../packages/server/src/test/certificate.ts';
import { createDatabase } from '../packages/server/src/test/postgres.ts';
import { freePort } from '../scripts/free-port.ts';
import { environmentOf, readCompose, runService, VARIABLES } from './compose.ts';
import { createKey, useService, waitForAnswer } from './deployed.ts';
import { startObjectStore } from './object-store.ts';
import { type Program, until } from './processes.ts';
import { PROXIES, runHaproxy } from './proxies.ts';
import type { Settings } from './service.ts';
import { lacksTemporal, TemporalServer } from './temporal-server.ts';

const withoutProxy = PROXIES.every(({ name }) => name !== 'haproxy');

describe.skipIf(withoutProxy || lacksOpenssl() || lacksTemporal())('the full file, as processes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'review-compose-'));
  const stopped = new AsyncDisposableStack();
  stopped.defer(() => rmSync(folder, { recursive: true, force: true }));
  afterAll(() => stopped.disposeAsync());
  let publicUrl: string;
  let token: string;
  const servers: Program[] = [];

  beforeAll(async () => {
    const [port, privatePort] = [await freePort(), await freePort()];
    publicUrl = `https://localhost:${port}`;
    const privateUrl = `http://127.0.0.1:${privatePort}`;
    const { key, cert } = selfSigned(folder, 1);
    writeFileSync(join(folder, 'tls.pem'), cert + key);
    const authorities = getCACertificates();
    setDefaultCACertificates([...authorities, cert]);
    stopped.defer(() => setDefaultCACertificates(authorities));

    const variables = { ...VARIABLES['compose.full.yaml'], PUBLIC_HOST: `localhost:${port}` };
    const { services } = readCompose('compose.full.yaml', variables);
    const database = stopped.use(await createDatabase(inject('postgresUrl')));
    const objectStore = stopped.use(await startObjectStore(services['proxy']?.environment['BUCKET']));
    const temporal = stopped.use(await TemporalServer.start());
    const shared = { TEMPORAL_ADDRESS: temporal.address, NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') };
    const run = (name: string, addresses: Settings) => {
      const service = services[name];
      if (service === undefined) throw new Error(`${name} is missing`);
      return stopped.use(runService(service, join(folder, name), { ...shared, ...addresses }));
    };

    const ports = [await freePort(), await freePort()];
    for (const [index, each] of ports.entries()) {
      servers.push(run(`server-${index + 1}`, { PORT: each, DATABASE_URL: database.url }));
    }
    stopped.use(
      runHaproxy({
        ...services['proxy']?.environment,
        SERVER_1: `127.0.0.1:${ports[0]}`,
        SERVER_2: `127.0.0.1:${ports[1]}`,
        OBJECT_STORE: `127.0.0.1:${objectStore.port}`,
        CERTIFICATE: join(folder, 'tls.pem'),
        PUBLIC_BIND: `127.0.0.1:${port}`,
        PLAIN_BIND: join(folder, 'plain.sock'),
        PRIVATE_BIND: `127.0.0.1:${privatePort}`,
      }),
    );
    for (const [index, each] of ports.entries()) {
      const server = servers[index];
      if (server) await waitForAnswer(`server ${index + 1}`, `http://127.0.0.1:${each}/readyz`, server);
    }
    await until('the proxy forwards', async () => (await fetch(`${publicUrl}/readyz`).catch(() => null))?.ok);
    for (const name of ['worker-1', 'worker-2']) {
      const worker = run(name, { SERVER_URL: privateUrl, WORKER_PORT: await freePort() });
      await worker.waitForOutput('"ready"');
    }
    const server = services['server-1'];
    token = await createKey({ ...(server && environmentOf(server)), DATABASE_URL: database.url });
  }, 120_000);

  test('callers generate, upload and download through the proxy, with nothing degraded', async () => {
    await useService(publicUrl, token);
    expect(await (await fetch(`${publicUrl}/readyz`)).json()).toMatchObject({ status: 'ok' });
  });

  test('uploaded content comes from the public host, and browsers do not run it', async () => {
    const client = createClient({ baseUrl: publicUrl, token });
    const project = (await client.projects.create({ body: { name: 'Page' } })).data.id;
    const source = new TextEncoder().encode('<script>alert(1)</script>');
    const { id } = await upload(client, { to: { project, kind: 'file' }, source, name: 'page.html' });
    const { url } = (await client.files.download({ params: { id } })).data;
    expect(new URL(url).origin).toBe(publicUrl);
    const { headers } = await fetch(url);
    expect(headers.get('content-security-policy')).toContain('sandbox');
    await download(client, id, { to: join(folder, 'page.html') });
  });

  test('events arrive while the stream is open', async () => {
    const client = createClient({ baseUrl: publicUrl, token });
    const project = (await client.projects.create({ body: { name: 'Live' } })).data.id;
    const types: string[] = [];
    for await (const { type } of client.events(project, { after: '0' })) {
      types.push(type);
      if (type === 'comment.created') break;
      // Only once the stream has sent an event is it open for certain.
      if (types.length === 1) await client.comments.create({ params: { id: project }, body: { content: 'Good.' } });
    }
    expect(types.at(-1)).toBe('comment.created');
  });

  test('while one server stops, every request is answered', async () => {
    const end = servers[0]?.end('SIGTERM');
    let isOver = false;
    void end?.finally(() => {
      isOver = true;
    });
    const statuses = new Set<number>();
    while (!isOver) statuses.add((await fetch(`${publicUrl}/healthz`)).status);
    expect([await end, ...statuses]).toEqual([0, 200]);
  });
});
