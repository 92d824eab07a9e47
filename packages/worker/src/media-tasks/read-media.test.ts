import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MediaError, MediaFacts, MediaTask, RenditionName } from '@review/contract';
import { FF_ENCODER_LIBX264 } from 'node-av';
import pdfmake from 'pdfmake';
import type { Content } from 'pdfmake/interfaces.js';
import { pino } from 'pino';
import sharp from 'sharp';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Double, startDouble } from '../families/test/double.ts';
import type { Decoder } from '../media/read-order.ts';
import { makeClip } from '../media/test/make-clip.ts';
import { problem } from '../test/fake-server.ts';
import { type MediaContext, readMedia } from './read-media.ts';

let storage: Double;
let folder: string;
let bytes: Buffer = Buffer.alloc(0);
beforeEach(async () => {
  bytes = await sharp({ create: { width: 400, height: 300, channels: 3, background: '#c60' } })
    .png()
    .toBuffer();
  storage = await startDouble(() => ({ body: bytes, headers: { etag: '"e"' } }));
  folder = await mkdtemp(join(tmpdir(), 'media-'));
});
afterEach(async () => {
  await storage[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** A server with one task, whose calls it records. Each call may be replaced by an error. */
function serverWith({
  stored = [] as RenditionName[],
  task = {} as Partial<MediaTask>,
  decoder = { name: 'none' } as Decoder,
  fail = (_call: string): Error | undefined => undefined,
} = {}) {
  const seen = {
    facts: [] as MediaFacts[],
    stored: [] as string[],
    ends: [] as (MediaError | null)[],
    statuses: [] as unknown[],
    released: 0,
  };
  const enter = (call: string) => {
    const error = fail(call);
    if (error !== undefined) throw error;
  };
  const server: MediaContext['server'] = {
    claimMedia: async () => ({ data: { files: [] } }),
    async startMedia() {
      enter('start');
      const url = `${storage.url}/content`;
      return {
        data: { epoch: 7, task: { kind: 'IMAGE', mimeType: 'image/png', size: bytes.length, url, stored, ...task } },
      };
    },
    renewMedia: async () => enter('renew'),
    async releaseMedia() {
      seen.released += 1;
    },
    async recordFacts({ body }) {
      enter('facts');
      seen.facts.push(body.facts);
    },
    async startRendition({ body }) {
      enter('startRendition');
      return { data: { parts: [{ partNumber: 1, size: body.size, url: `${storage.url}/part` }] } };
    },
    async completeRendition({ body }) {
      enter('completeRendition');
      seen.stored.push(body.kind === 'PAGE' ? `PAGE ${body.variant}` : body.kind);
    },
    async finishMedia({ body }) {
      enter('finish');
      seen.ends.push(body.error);
      seen.statuses.push(body.status);
    },
  };
  const context: MediaContext = { server, workDirectory: folder, log: pino({ level: 'silent' }), decoder };
  return { context, seen };
}

const RUNNING = new AbortController().signal;
const read = (context: MediaContext, stop = RUNNING) => readMedia(context, { fileId: 'FX1', epoch: 7 }, stop);

test('facts, renditions and the end are reported, and nothing stays on the disk', async () => {
  const { context, seen } = serverWith();
  await read(context);
  expect(seen).toMatchObject({ facts: [{ width: 400, height: 300 }], stored: ['THUMBNAIL', 'POSTER'], ends: [null] });
  expect(await readdir(folder)).toEqual([]);
});

test('a rendition that an earlier attempt has stored is not sent again', async () => {
  const { context, seen } = serverWith({ stored: [{ kind: 'THUMBNAIL', variant: 0 }] });
  await read(context);
  expect(seen.stored).toEqual(['POSTER']);
});

test('pages are drawn on request, once', async () => {
  const box = { canvas: [{ type: 'rect', x: 0, y: 0, w: 99, h: 99, color: '#c60' }] } satisfies Content;
  const content: Content[] = [box, { ...box, pageBreak: 'before' }];
  bytes = await pdfmake.createPdf({ content }).getBuffer();
  const task: Partial<MediaTask> = {
    kind: 'DOCUMENT',
    mimeType: 'application/pdf',
    size: bytes.length,
    pages: [1, 2, 9],
  };
  const { context, seen } = serverWith({ stored: [{ kind: 'PAGE', variant: 1 }], task });
  await read(context);
  expect(seen).toMatchObject({ stored: ['THUMBNAIL', 'POSTER', 'PAGE 2'], ends: [null] });
});

test('content that cannot be read ends the task with the reason', async () => {
  bytes = Buffer.from('not a picture');
  const { context, seen } = serverWith();
  await read(context);
  expect(seen.ends).toEqual([{ code: 'UNREADABLE', message: expect.stringContaining('damaged') }]);
  expect(seen.statuses).toEqual(['FAILED']);
});

test('a video of which only the facts can be read is ready, with the reason', async () => {
  const path = join(folder, 'clip.mp4');
  await makeClip(path, FF_ENCODER_LIBX264);
  bytes = await readFile(path);
  await rm(path);
  const { context, seen } = serverWith({ task: { kind: 'VIDEO', mimeType: 'video/mp4', size: bytes.length } });
  await read(context);
  expect(seen).toMatchObject({ facts: [{ width: 320, frameCount: 20 }], stored: [], statuses: ['READY'] });
  expect(seen.ends).toEqual([{ code: 'NO_DECODER', message: expect.stringContaining('no preview') }]);
});

test('a server and a storage that are away are asked again', async () => {
  let failures = 2;
  const { context, seen } = serverWith({
    fail: (call) => (call === 'completeRendition' && failures-- > 0 ? problem(503) : undefined),
  });
  storage.before = vi.fn().mockReturnValueOnce({ status: 503, body: '' });
  await read(context);
  expect(seen).toMatchObject({ stored: ['THUMBNAIL', 'POSTER'], ends: [null] });
});

test('content that arrives in part is asked for again', async () => {
  const { context, seen } = serverWith();
  storage.before = vi.fn().mockReturnValueOnce('reset').mockReturnValueOnce({ body: cutOff() });
  await read(context);
  expect(seen).toMatchObject({ stored: ['THUMBNAIL', 'POSTER'], ends: [null] });
});

async function* cutOff() {
  yield 'a part';
  throw new Error('cut off');
}

test.each([403, 404])(
  'content that the storage refuses with %d ends the attempt, for the next gets another URL',
  async (status) => {
    const { context, seen } = serverWith();
    storage.before = () => ({ status, body: '' });
    await expect(read(context)).rejects.toThrow(`The storage answered ${status}.`);
    expect(storage.requests).toHaveLength(1);
    expect(seen).toMatchObject({ ends: [], released: 0 });
  },
);

test.each(['start', 'facts', 'startRendition', 'finish'])('a task that is lost at %s is left alone', async (at) => {
  const { context, seen } = serverWith({ fail: (call) => (call === at ? problem(404) : undefined) });
  await read(context);
  expect([seen.ends, seen.released]).toEqual([[], 0]);
});

test('an interrupted task is released', async () => {
  const stop = new AbortController();
  const { context, seen } = serverWith({
    fail: (call) => {
      if (call === 'facts') stop.abort();
      return undefined;
    },
  });
  await read(context, stop.signal);
  expect([seen.ends, seen.released]).toEqual([[], 1]);
});
