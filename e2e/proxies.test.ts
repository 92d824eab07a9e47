import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lacksOpenssl, selfSigned } from '../packages/server/src/test/certificate.ts';
import { freePort } from '../scripts/free-port.ts';
import { until } from './processes.ts';
import { PROXIES, runHaproxy, startProxy } from './proxies.ts';

async function serve(handle: RequestListener) {
  const server = createServer(handle);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? String(address.port) : '';
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A server with a healthy readiness probe that responds to all other requests with this status. */
const answering = (status: number) =>
  serve((request, response) => {
    response.writeHead(request.url === '/healthz' || request.url === '/readyz' ? 200 : status).end(`own ${status}`);
  });

async function readThrough(url: string, times: number): Promise<string[]> {
  const answers: string[] = [];
  for (let count = 0; count < times; count += 1) {
    const answer = await fetch(`${url}/api/ping`);
    answers.push(`${answer.status} ${await answer.text()}`);
  }
  return answers;
}

describe.each(PROXIES)('behind $name', (kind) => {
  test('responses pass through when every server returns 503', async () => {
    await using first = await answering(503);
    await using second = await answering(503);
    await using proxy = await startProxy(kind, [first.port, second.port]);
    expect(await readThrough(proxy.url, 10)).toEqual(Array(10).fill('503 own 503'));
  });
});

describe.each(PROXIES.filter(({ name }) => name === 'nginx'))('behind $name', (kind) => {
  test('the other server handles reads that one server rejects with 503', async () => {
    await using first = await answering(503);
    await using second = await answering(200);
    await using proxy = await startProxy(kind, [first.port, second.port]);
    expect(await readThrough(proxy.url, 10)).toEqual(Array(10).fill('200 own 200'));
  });

  test('metrics and the worker API are not public', async () => {
    await using server = await answering(200);
    await using proxy = await startProxy(kind, [server.port, server.port]);
    const paths = ['/metrics', '/worker/hello', '/api/ping'];
    const statuses = await Promise.all(paths.map(async (path) => (await fetch(proxy.url + path)).status));
    expect(statuses).toEqual([404, 404, 200]);
  });
});

const haproxy = PROXIES.filter(({ name }) => name === 'haproxy');

describe.skipIf(haproxy.length === 0 || lacksOpenssl())('deploy/haproxy.cfg', () => {
  const stopped = new AsyncDisposableStack();
  afterAll(() => stopped.disposeAsync());
  let [publicUrl, plainUrl, privateUrl] = ['', '', ''];
  let certificate: string;

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'review-proxy-'));
    stopped.defer(() => rmSync(folder, { recursive: true, force: true }));
    const { key, cert } = selfSigned(folder, 1);
    certificate = cert;
    writeFileSync(join(folder, 'tls.pem'), cert + key);
    const authorities = getCACertificates();
    setDefaultCACertificates([...authorities, cert]);
    stopped.defer(() => setDefaultCACertificates(authorities));
    const server = stopped.use(
      await serve((request, response) => {
        if (request.url === '/stream') return void response.write('first');
        const { host, 'x-forwarded-proto': scheme, 'x-forwarded-for': callers } = request.headers;
        response.end(JSON.stringify({ by: 'server', method: request.method, host, scheme, callers }));
      }),
    );
    const store = stopped.use(
      await serve(
        ({ url, headers: { host } }, response) => void response.end(JSON.stringify({ by: 'store', url, host })),
      ),
    );
    const [port, plainPort, privatePort] = [await freePort(), await freePort(), await freePort()];
    publicUrl = `https://localhost:${port}`;
    plainUrl = `http://127.0.0.1:${plainPort}`;
    privateUrl = `http://127.0.0.1:${privatePort}`;
    const program = runHaproxy({
      SERVER_1: `127.0.0.1:${server.port}`,
      OBJECT_STORE: `127.0.0.1:${store.port}`,
      BUCKET: 'objects',
      CERTIFICATE: join(folder, 'tls.pem'),
      PUBLIC_BIND: `127.0.0.1:${port}`,
      PLAIN_BIND: `127.0.0.1:${plainPort}`,
      PRIVATE_BIND: `127.0.0.1:${privatePort}`,
    });
    stopped.use(program);
    await until('HAProxy answers', async () => {
      if (program.child.exitCode !== null) throw new Error(`HAProxy exited:\n${program.output}`);
      return (await fetch(publicUrl).catch(() => null))?.ok;
    });
  });

  test('metrics and the worker API are not public', async () => {
    const statuses = async (base: string) =>
      Promise.all(['/metrics', '/worker/hello', '/api/ping'].map(async (path) => (await fetch(base + path)).status));
    expect(await statuses(publicUrl)).toEqual([404, 404, 200]);
    expect(await statuses(privateUrl)).toEqual([200, 200, 200]);
  });

  test('plain HTTP is redirected, and browsers remember that', async () => {
    const { status, headers } = await fetch(`${plainUrl}/files?a=1`, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([308, `${plainUrl.replace('http', 'https')}/files?a=1`]);
    expect((await fetch(publicUrl)).headers.get('strict-transport-security')).toBe('max-age=31536000');
  });

  test('the server learns host, scheme and caller, and forged headers do not count', async () => {
    const headers = { 'x-forwarded-for': '10.9.9.9', 'x-forwarded-proto': 'gopher' };
    const seen = async (base: string) => (await fetch(base, { headers })).json();
    expect(await seen(publicUrl)).toMatchObject({ host: new URL(publicUrl).host, scheme: 'https' });
    expect(await seen(privateUrl)).toMatchObject({ host: new URL(privateUrl).host, scheme: 'http' });
    // With TRUST_PROXY=1 the server uses the last address.
    expect(await seen(publicUrl)).toMatchObject({ callers: expect.stringMatching(/127\.0\.0\.1$/) });
  });

  test('the method QUERY passes over HTTP/2', async () => {
    const session = connect(publicUrl, { ca: certificate });
    stopped.defer(() => session.destroy());
    const request = session.request({ ':method': 'QUERY', ':path': '/api/projects' }).setEncoding('utf8');
    request.end('{}');
    const [answer] = await once(request, 'data');
    expect([session.alpnProtocol, JSON.parse(answer)]).toMatchObject(['h2', { method: 'QUERY' }]);
  });

  test('an open response arrives as it is written', async () => {
    const reader = (await fetch(`${publicUrl}/stream`)).body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('first');
    await reader?.cancel();
  });

  test('only the path of the bucket reaches the store, unchanged, and its content runs no scripts', async () => {
    const answer = await fetch(`${publicUrl}/objects/a%2Fb?X-Amz-Signature=1`);
    expect(await answer.json()).toEqual({
      by: 'store',
      url: '/objects/a%2Fb?X-Amz-Signature=1',
      host: new URL(publicUrl).host,
    });
    expect(answer.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(await (await fetch(`${publicUrl}/objects?list-type=2`)).json()).toMatchObject({ by: 'store' });
    expect(await (await fetch(`${publicUrl}/objects-of-others/a`)).json()).toMatchObject({ by: 'server' });
    expect(await (await fetch(`${privateUrl}/objects/a`)).json()).toMatchObject({ by: 'server' });
  });
});
