import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, download, generate, items, upload, waitFor } from '@review/client';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Gate, openGate, type Passing } from './gate.ts';
import { Service, sha256 } from './service.ts';

/** Tests the retries of the typed client against broken connections and server restarts. */
let service: Service;
let gate: Gate;
let client: Client;
let folder: string;
beforeAll(async () => {
  gate = await openGate(() => service.url);
  // Presigned URLs also go through the gate.
  service = await Service.start({ PUBLIC_URL: gate.url, UPLOAD_PART_SIZE: '100000', SANDBOX_MILLISECONDS: '1000' });
  await service.startWorker('one');
  client = service.clientAt(gate.url, { retries: 8 });
  folder = await mkdtemp(join(tmpdir(), 'review-faults-'));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await gate[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  gate.on = () => undefined;
});

const bytes = new Uint8Array(randomBytes(1_050_000));
const PAGE = { outputType: 'DOCUMENT', outputModel: 'markdown', prompt: 'A page about tides' } as const;

/** A new project, so that the test can count its contents. */
async function newProject(): Promise<string> {
  return (await service.client.projects.create({ body: { name: 'Faults' } })).data.id;
}
const filesOf = async (project: string) => (await service.client.files.list({ params: { id: project } })).data;
const ordersOf = async (id: string) =>
  (await service.steps(id)).filter(({ name, outcome }) => name === 'submit' && outcome === 'SUCCEEDED').length;

/** Runs `act` at that moment of the first matching call, then cuts its connection. */
function once(fits: RegExp, moment: Passing['moment'], act: () => Promise<void> = async () => {}): () => boolean {
  let done = false;
  gate.on = async (call) => {
    if (done || call.moment !== moment || !fits.test(`${call.method} ${call.path}`)) return undefined;
    done = true;
    await act();
    return 'cut';
  };
  return () => done;
}

test.each(['before', 'half', 'after'] as const)(
  'the client retries when every connection breaks once (%s), and nothing is done twice',
  async (moment) => {
    const project = await newProject();
    const params = { id: project };
    const broken = new Set<string>();
    gate.on = ({ method, path, moment: now }) => {
      const call = `${method} ${path.replace(/[?].*/, '')}`;
      if (now !== moment || broken.has(call)) return undefined;
      broken.add(call);
      return 'cut';
    };
    const { data: made } = await client.folders.create({ params, body: { name: 'Cuts' } });
    await client.folders.update({ params: made, body: { name: 'Final cuts' } });
    const { id } = await upload(client, { to: { project }, source: bytes, name: 'clip.bin', folder: made });
    await client.comments.create({ params, body: { content: 'Once.' } });
    const { data: spare } = await client.folders.create({ params, body: { name: 'Spare' } });
    await client.folders.delete({ params: spare });
    const page = await generate(client, { project, ...PAGE });
    await download(client, id, { to: join(folder, moment) });
    const said: (string | null)[] = [];
    for await (const { content } of items(client.comments.list, { params })) said.push(content);

    gate.on = () => undefined;
    expect(broken.size).toBeGreaterThan(moment === 'half' ? 15 : 20);
    expect(said).toEqual(['Once.']);
    expect((await client.folders.list({ params })).data.map(({ name }) => name)).toEqual(['Final cuts']);
    expect((await filesOf(project)).map((file) => file.id).sort()).toEqual([id, page.id].sort());
    expect(sha256(await service.bytesOf(id))).toBe(sha256(Buffer.from(bytes)));
    expect(sha256(await readFile(join(folder, moment)))).toBe(sha256(Buffer.from(bytes)));
    expect(await ordersOf(page.id)).toBe(1);
  },
);

test.each([
  ['in the middle of a part of an upload', /^PUT .*\/5\?/, 'half'],
  ['before it completes an upload', /upload\.complete$/, 'before'],
  ['after it has completed an upload', /upload\.complete$/, 'after'],
  ['after it has started an upload', /upload\.multipart$/, 'after'],
] as const)('an upload survives a server killed %s: one file, all its bytes', async (_, call, moment) => {
  const project = await newProject();
  const wasKilled = once(call, moment, () => service.restartServer());
  const { id } = await upload(client, { to: { project }, source: bytes, name: 'clip.bin' });
  expect(wasKilled()).toBe(true);
  expect(sha256(await service.bytesOf(id))).toBe(sha256(Buffer.from(bytes)));
  expect((await filesOf(project)).map((file) => file.id)).toEqual([id]);
});

test('a generation is accepted once if the server is killed during the request', async () => {
  const project = await newProject();
  const wasKilled = once(/upload\.generate$/, 'after', () => service.restartServer());
  const file = await generate(client, { project, ...PAGE });
  expect(wasKilled()).toBe(true);
  expect(file.status).toBe('UPLOADED');
  expect((await filesOf(project)).map(({ id }) => id)).toEqual([file.id]);
  expect(await ordersOf(file.id)).toBe(1);
});

test('waitFor survives a killed server: one file, one run', async () => {
  const project = await newProject();
  let restarted: Promise<void> | undefined;
  let id = '';
  const seen: string[] = [];
  const file = await generate(client, {
    project,
    ...PAGE,
    onStart: (fileId) => {
      id = fileId;
    },
    onProgress: ({ status }) => {
      seen.push(status);
      restarted ??= service.restartServer();
    },
  });
  await restarted;
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.at(-1)).toBe('SUCCEEDED');
  expect(file).toMatchObject({ id, status: 'UPLOADED' });
  expect(await filesOf(project)).toHaveLength(1);
  expect(await ordersOf(id)).toBe(1);
  expect(await waitFor(client, id)).toEqual(file);
});

test('an upload of a dead process resumes in another one after a server restart', async () => {
  const project = await newProject();
  const leaving = new AbortController();
  let kept = '';
  const first = upload(client, {
    to: { project },
    source: bytes,
    name: 'clip.bin',
    signal: leaving.signal,
    onState: (state) => {
      kept = JSON.stringify(state);
      if (state.parts.length === 4) leaving.abort(new Error('the process died'));
    },
  });
  await expect(first).rejects.toThrow('the process died');
  await service.restartServer();
  let sent = 0;
  gate.on = ({ method, moment }) => {
    if (method === 'PUT' && moment === 'before') sent += 1;
    return undefined;
  };
  const { id } = await upload(client, { to: { project }, source: bytes, name: 'clip.bin', resume: JSON.parse(kept) });
  expect(sent).toBe(6);
  expect(sha256(await service.bytesOf(id))).toBe(sha256(Buffer.from(bytes)));
  expect(await filesOf(project)).toHaveLength(1);
});

test('a failed generation reports its error, and an abandoned one can be canceled', async () => {
  const project = await newProject();
  await expect(generate(client, { project, ...PAGE, prompt: '[moderated]' })).rejects.toMatchObject({
    name: 'GenerationFailed',
    error: { code: 'MODERATED' },
    file: { status: 'FAILED' },
  });
  const leaving = new AbortController();
  let id = '';
  const left = generate(client, {
    project,
    ...PAGE,
    prompt: '[slow]',
    signal: leaving.signal,
    cancelOnAbort: true,
    onStart: (fileId) => {
      id = fileId;
      leaving.abort(new Error('never mind'));
    },
  });
  await expect(left).rejects.toThrow('never mind');
  await expect(waitFor(client, id)).rejects.toMatchObject({ error: null, file: { status: 'CANCELED' } });
});
