import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundle } from '../packages/client/src/test/bundle.ts';
import { Service } from './service.ts';

/** The client bundled for browsers: one file without Node modules. */
let service: Service;
let folder: string;
let browser: typeof import('@review/client');
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'review-browser-'));
  const path = join(folder, 'client.mjs');
  await writeFile(path, (await bundle()).code);
  browser = await import(pathToFileURL(path).href);
  service = await Service.start({ UPLOAD_PART_SIZE: '100000' });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test('the client uploads and downloads in a browser and verifies the checksum', async () => {
  const client = browser.createClient({ baseUrl: service.url, token: service.key });
  const source = new Blob([crypto.getRandomValues(new Uint8Array(60_000)), 'x'.repeat(500_000)]);
  const { id } = await browser.upload(client, { to: { project: service.projectId }, source, name: 'a.bin' });
  await expect.poll(async () => (await service.file(id)).sha256).not.toBeNull();
  const blob = await browser.download(client, id);
  expect(await blob.arrayBuffer()).toEqual(await source.arrayBuffer());
  const wrong: typeof fetch = async () => new Response(new Blob([await source.slice(1).arrayBuffer(), 'y']));
  await expect(browser.download(client, id, { fetch: wrong })).rejects.toBeInstanceOf(browser.DownloadDamaged);
});

test('file paths are rejected with a hint to the alternative', async () => {
  const client = browser.createClient({ baseUrl: service.url, token: service.key });
  const options = { to: { project: service.projectId }, source: 'a.bin' };
  await expect(browser.upload(client, options)).rejects.toThrow(
    'Paths are not available in a browser: upload a File or a Blob',
  );
});
