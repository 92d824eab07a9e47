import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, generate } from '@review/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../scripts/free-port.ts';
import { readCompose, VARIABLES } from './compose.ts';
import { createKeyBy, useService, waitForAnswer } from './deployed.ts';
import { type Container, Images, lacksImages } from './images.ts';
import { readOutput, until } from './processes.ts';

/** The first build fetches all packages and a Debian. */
const BUILD_MS = 1_800_000;
/** The files of all layers are gigabytes on a disk that may be slow. */
const DELETE_MS = 600_000;

const CHECK_RIGHTS = `
const refusal = (path) => { try { fs.writeFileSync(path, ''); return null; } catch ({ code }) { return code; } };
const [, bounding] = /^CapBnd:\\s*(\\w+)$/m.exec(fs.readFileSync('/proc/self/status', 'utf8'));
console.log(JSON.stringify([process.getuid(), process.getgroups(), BigInt('0x' + bounding) === 0n, ...['/app/x', '/data/x', '/tmp/x'].map(refusal)]));
`;

describe.skipIf(lacksImages())('the images, built and run as one box', () => {
  const folder = mkdtempSync(join(tmpdir(), 'review-images-'));
  const stopped = new AsyncDisposableStack();
  stopped.defer(() => rm(folder, { recursive: true, force: true }));
  afterAll(() => stopped.disposeAsync(), DELETE_MS);
  let url: string;
  let server: Container;
  let worker: Container;

  beforeAll(async () => {
    const images = stopped.use(new Images(folder));
    await images.buildBase();
    for (const target of ['server', 'worker']) await images.build(target);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const { services } = readCompose('compose.yaml', { ...VARIABLES['compose.yaml'], PUBLIC_URL: url });
    const settingsOf = (name: string) => services[name]?.environment ?? {};
    server = await images.createContainer('server', { ...settingsOf('server'), PORT: port });
    const addresses = { SERVER_URL: url, WORKER_PORT: await freePort() };
    worker = await images.createContainer('worker', { ...settingsOf('worker'), ...addresses });
  }, BUILD_MS);

  test('their user owns only /data, and the programs can be read-only', async () => {
    for (const container of [server, worker]) {
      const owned = await readOutput('find', [container.files, '-xdev', '-user', String(container.user)]);
      expect(owned.trim().split('\n')).toEqual([join(container.files, 'data')]);
      const rights: unknown = JSON.parse(await container.execute(['node', '-e', CHECK_RIGHTS]));
      expect(rights).toEqual([10001, [10001], true, 'EROFS', null, null]);
    }
  });

  test('serve callers and the console, generate, read media, answer their health checks and stop', async () => {
    for (const container of [server, worker]) {
      await expect(container.execute(container.healthCheck)).rejects.toThrow('code 1');
    }
    await using serverProgram = server.start();
    await waitForAnswer('the server', `${url}/readyz`, serverProgram);
    await using workerProgram = worker.start();
    await workerProgram.waitForOutput('"ready"');
    for (const container of [server, worker]) expect(await container.execute(container.healthCheck)).toBe('');

    const token = await createKeyBy((words) => server.execute(['node', '/app/server/dist/commands/main.js', ...words]));
    const project = await useService(url, token);
    expect(await (await fetch(url)).text()).toContain('<div id="console">');

    const client = createClient({ baseUrl: url, token });
    const { id } = await generate(client, {
      project,
      outputType: 'VIDEO',
      outputModel: 'seedance-2.5',
      configs: { resolution: '480p', durationSeconds: 4, aspectRatio: '16:9' },
      prompt: 'A harbour',
    });
    const { media, renditions } = await until('the video is read', async () => {
      const { data } = await client.files.get({ params: { id } });
      return data.media?.status !== 'PENDING' && data;
    });
    // Without the FFmpeg of the image there would be facts only.
    expect(media).toMatchObject({ status: 'READY', videoCodec: 'h264' });
    expect(renditions.map(({ kind }) => kind)).toEqual(['FILMSTRIP', 'POSTER', 'THUMBNAIL', 'WAVEFORM']);

    expect([await workerProgram.end('SIGTERM'), await serverProgram.end('SIGTERM')]).toEqual([0, 0]);
  });
});
