import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileRecord, findModel } from '@review/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Double } from '../packages/worker/src/families/test/double.ts';
import { GOOGLE_KEY, type GoogleDouble, startGoogle } from '../packages/worker/src/families/test/google.ts';
import { mediaOf } from '../packages/worker/src/families/test/media.ts';
import { OPENAI_KEY, type OpenAiDouble, startOpenAi } from '../packages/worker/src/families/test/openai.ts';
import { readVideo } from '../packages/worker/src/sandbox/test/read-video.ts';
import type { Program } from './processes.ts';
import { NO_MEDIA, Service, sha256 } from './service.ts';
import { ENGINES, TemporalServer } from './temporal-server.ts';

const VEO = 'veo-3.1-generate-preview';

describe.each(ENGINES)('live providers under the %s engine', (engine) => {
  let folder = '';
  let temporal: TemporalServer | undefined;
  let openai: OpenAiDouble;
  let google: GoogleDouble;
  let service: Service;
  const programs: Program[] = [];
  let worker: Program;
  let picture = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'review-providers-'));
    [openai, google] = [await startOpenAi(), await startGoogle()];
    if (engine === 'temporal') temporal = await TemporalServer.start();
    service = await Service.start({
      ...NO_MEDIA,
      ...(temporal && { TEMPORAL_ADDRESS: temporal.address, RECONCILE_SECONDS: '1' }),
      LOG_LEVEL: 'debug',
      OPENAI_API_KEY: OPENAI_KEY,
      OPENAI_BASE_URL: openai.baseUrl,
      DOCUMENT_LLM_API_KEY: OPENAI_KEY,
      DOCUMENT_LLM_BASE_URL: openai.baseUrl,
      DOCUMENT_LLM_MODEL: 'writer-1',
      GEMINI_API_KEY: GOOGLE_KEY,
      GEMINI_BASE_URL: google.url,
    });
    if (service.server) programs.push(service.server);
    worker = await startWorker();
    // The output of one provider is the attachment for the others.
    picture = await service.generate('gpt-image-2', 'A secret picture');
    expect(await service.waitForEnd(picture)).toMatchObject({ status: 'UPLOADED' });
  });

  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await temporal?.[Symbol.asyncDispose]();
    for (const double of [openai, google]) await double?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  beforeEach(() => {
    for (const double of [openai, google]) double.after = () => undefined;
    openai.write = () => ({ text: '# A lamp\n\nIt stands by the window.\n' });
  });

  async function startWorker(): Promise<Program> {
    const started = await service.startWorker('left', { LOG_LEVEL: 'debug' });
    programs.push(started);
    return started;
  }

  async function contentOf(file: FileRecord): Promise<Buffer> {
    const bytes = await service.bytesOf(file.id);
    expect([bytes.length, sha256(bytes)]).toEqual([file.size, file.sha256]);
    return bytes;
  }

  const LIVE = { status: 'UPLOADED', generation: { provider: 'live', error: null, warnings: [], progress: 1 } };

  test.each(['gpt-image-2', 'gemini-3-pro-image', VEO, 'veo-3.1-lite-generate-preview', 'markdown', 'pdf'])(
    '%s, with an attachment: the file is what the provider returned',
    async (model) => {
      const prompt = `A secret lamp by ${model} like`;
      const id = await service.generate(model, `${prompt} <#${picture}>`, { attachments: [{ id: picture }] });
      const file = await service.waitForEnd(id);
      expect(file).toMatchObject(LIVE);
      const bytes = await contentOf(file);
      const orders = [...openai.orders, ...google.orders].filter((order) => order.prompt.startsWith(prompt));
      expect(orders).toHaveLength(1);
      const operation = orders[0]?.id.split('/').at(-1) ?? '';
      if (model === 'gpt-image-2') expect(bytes).toEqual(openai.picture);
      if (model === 'gemini-3-pro-image') expect(bytes).toEqual(google.picture);
      if (model.startsWith('veo')) expect(bytes).toEqual(await mediaOf(VEO, operation));
      if (model === 'markdown') expect(bytes.toString()).toBe('# A lamp\n\nIt stands by the window.\n');
      if (model === 'pdf') expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
    },
  );

  test('sound is removed from a video if the provider always adds it', async () => {
    const id = await service.generate(VEO, 'A secret silence', { configs: { generateAudio: false } });
    const file = await service.waitForEnd(id);
    expect(file).toMatchObject(LIVE);
    const path = join(folder, 'silent.mp4');
    await writeFile(path, await contentOf(file));
    expect((await readVideo(path)).audio).toBeNull();
  });

  test('a truncated document is continued', async () => {
    openai.write = (messages) =>
      messages.length === 2 ? { text: '# A lamp\n\nBy the win', finish: 'length' } : { text: 'dow.' };
    const file = await service.waitForEnd(await service.generate('markdown', 'A secret long lamp'));
    expect(file).toMatchObject(LIVE);
    expect((await contentOf(file)).toString()).toBe('# A lamp\n\nBy the window.\n');
    expect(openai.paidFor('A secret long lamp')).toBe(2);
  });

  test('a rejection carries the message of the provider', async () => {
    google.answer = () => ({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } });
    const file = await service.waitForEnd(await service.generate('gemini-3.1-flash-image', 'A secret crime'));
    google.answer = () => undefined;
    expect(file).toMatchObject({
      status: 'FAILED',
      generation: { error: { code: 'MODERATED', message: expect.stringContaining('PROHIBITED_CONTENT') } },
    });
  });

  // Under Temporal every kill costs a heartbeat timeout; temporal.test.ts covers those.
  describe.skipIf(engine === 'temporal')('with killed workers', () => {
    /** Kills the worker once, after the provider has accepted the order and before it responds. */
    function killWhenTaken(double: Double, isTheOne: (body: unknown) => boolean = () => true): Promise<void> {
      const dead = Promise.withResolvers<void>();
      let killed = false;
      double.after = async ({ method, body }) => {
        if (killed || method !== 'POST' || !isTheOne(body)) return undefined;
        killed = true;
        await worker.end('SIGKILL');
        dead.resolve();
        return 'reset';
      };
      return dead.promise;
    }

    test.each([
      ['gpt-image-2', 'UPLOADED', 2],
      ['gemini-3-pro-image', 'UPLOADED', 2],
      ['pdf', 'UPLOADED', 2],
      [VEO, 'SUBMIT_OUTCOME_UNKNOWN', 1],
    ])('a worker killed while submitting %s: %s, %i paid', async (model, outcome, paid) => {
      const double = findModel(model)?.family === 'veo' || model.startsWith('gemini') ? google : openai;
      const dead = killWhenTaken(double);
      const prompt = `A secret end by ${model}`;
      const id = await service.generate(model, prompt);
      await dead;
      worker = await startWorker();
      const file = await service.waitForEnd(id);
      expect(file.generation?.error?.code ?? file.status).toBe(outcome);
      expect(double.paidFor(prompt)).toBe(paid);
    });

    test('a worker killed while submitting the continuation does not order the beginning again', async () => {
      const isContinued = (messages: unknown) => Array.isArray(messages) && messages.length > 2;
      openai.write = (messages) =>
        isContinued(messages) ? { text: 'dow.' } : { text: 'By the win', finish: 'length' };
      const dead = killWhenTaken(
        openai,
        (body) => typeof body === 'object' && body !== null && 'messages' in body && isContinued(body.messages),
      );
      const prompt = 'A secret end in the middle';
      const id = await service.generate('markdown', prompt);
      await dead;
      worker = await startWorker();
      const file = await service.waitForEnd(id);
      expect(file.status).toBe('UPLOADED');
      expect((await contentOf(file)).toString()).toBe('By the window.\n');
      expect(openai.paidFor(prompt)).toBe(3);
    });
  });

  test('no output contains a key, a prompt or a presigned URL', async () => {
    const said = programs.map(({ output }) => output).join('\n');
    expect(said.length).toBeGreaterThan(1000);
    expect(said).not.toMatch(/secret/i);
    for (const key of [OPENAI_KEY, GOOGLE_KEY]) expect(said).not.toContain(key);
    expect(said).not.toMatch(/[?&](signature|sig|X-Amz-Signature)=/i);
  });
});
