import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VideoConfigs } from '@review/contract';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { pictureOf } from '../packages/worker/src/families/test/asking.ts';
import type { Double } from '../packages/worker/src/families/test/double.ts';
import { FAL_KEY, startFal } from '../packages/worker/src/families/test/fal.ts';
import { KLING_KEY, startKling } from '../packages/worker/src/families/test/kling.ts';
import { mediaOf } from '../packages/worker/src/families/test/media.ts';
import { MINIMAX_KEY, startMinimax } from '../packages/worker/src/families/test/minimax.ts';
import { ARK_KEY, type SeedanceDouble, startSeedance } from '../packages/worker/src/families/test/seedance.ts';
import { readVideo } from '../packages/worker/src/sandbox/test/read-video.ts';
import { type Program, until } from './processes.ts';
import { NO_MEDIA, Service, sha256 } from './service.ts';
import { ENGINES, TemporalServer } from './temporal-server.ts';

const KEYS = { kling: KLING_KEY, seedance: ARK_KEY, minimax: MINIMAX_KEY, fal: FAL_KEY };
type Vendor = keyof typeof KEYS;
const NAMES: readonly Vendor[] = ['kling', 'seedance', 'minimax', 'fal'];

/** The request for each vendor. */
const ASKED: Record<Vendor, { outputModel: string; configs: VideoConfigs }> = {
  kling: { outputModel: 'kling-3.0', configs: {} },
  seedance: { outputModel: 'seedance-2.0', configs: {} },
  minimax: { outputModel: 'minimax-h3', configs: {} },
  fal: { outputModel: 'minimax-h3-max', configs: { resolution: '1080p' } },
};

const PROMPT = 'A lamp that must stay secret';

describe.each(ENGINES)('videos under the %s engine', (engine) => {
  let folder = '';
  let temporal: TemporalServer | undefined;
  let service: Service;
  let vendors: Record<Vendor, Double>;
  let seedance: SeedanceDouble;
  const workers: Program[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'review-providers-'));
    if (engine === 'temporal') temporal = await TemporalServer.start();
    seedance = await startSeedance();
    vendors = { kling: await startKling(), seedance, minimax: await startMinimax(), fal: await startFal() };
    service = await Service.start({
      ...NO_MEDIA,
      LOG_LEVEL: 'debug',
      GENERATION_SLOTS: 'VIDEO=20',
      ...(temporal && { TEMPORAL_ADDRESS: temporal.address }),
    });
    await startWorker();
  });

  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await temporal?.[Symbol.asyncDispose]();
    for (const name of NAMES) await vendors?.[name][Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  afterEach(() => {
    for (const name of NAMES) [vendors[name].before, vendors[name].after] = [() => undefined, () => undefined];
    const output = [service.server, ...workers].map((program) => program?.output ?? '').join('\n');
    expect(output).toContain('"ready"');
    for (const secret of [...Object.values(KEYS), 'must stay secret', 'ignature=', 'of-fal', 'iVBORw0KGgo']) {
      expect(output).not.toContain(secret);
    }
  });

  async function startWorker(): Promise<void> {
    const worker = await service.startWorker('only', {
      LOG_LEVEL: 'debug',
      KLING_API_KEY: KLING_KEY,
      KLING_BASE_URL: vendors.kling.url,
      ARK_API_KEY: ARK_KEY,
      ARK_BASE_URL: seedance.baseUrl,
      MINIMAX_API_KEY: MINIMAX_KEY,
      MINIMAX_BASE_URL: vendors.minimax.url,
      FAL_KEY,
      FAL_QUEUE_URL: vendors.fal.url,
    });
    workers.push(worker);
    if (engine === 'temporal') await worker.waitForOutput('serving the queues');
  }

  async function generate(name: Vendor, prompt: string, attachments: { id: string }[] = []): Promise<string> {
    const body = { outputType: 'VIDEO', ...ASKED[name], prompt, attachments, folder: null } as const;
    return (await service.client.generation.generate({ params: { id: service.projectId }, body })).data.id;
  }

  test.each(NAMES)('%s: an attachment becomes the video that the vendor made', async (name) => {
    const { id: attachment } = await service.attach(await pictureOf());
    const id = await generate(name, `${PROMPT}, like <#${attachment}>`, [{ id: attachment }]);
    const file = await service.waitForEnd(id);
    expect(file).toMatchObject({
      status: 'UPLOADED',
      mimeType: 'video/mp4',
      generation: { provider: 'live', progress: 1, error: null },
    });
    expect(file.generation?.warnings).toHaveLength(name === 'kling' ? 1 : 0);
    const orders = vendors[name].orders.filter(({ prompt }) => prompt.startsWith(`${PROMPT}, like `));
    expect(orders).toHaveLength(1);
    const bytes = await service.bytesOf(id);
    expect([bytes.length, sha256(bytes)]).toEqual([file.size, file.sha256]);
    const made = await mediaOf(ASKED[name].outputModel, orders[0]?.id ?? '');
    if (name === 'kling' || name === 'seedance') return expect(sha256(bytes)).toBe(sha256(made));
    // These models return sound although documented as silent; it is removed without re-encoding the picture.
    const [own, theirs] = [join(folder, `${id}.mp4`), join(folder, `${id}-made.mp4`)];
    await Promise.all([writeFile(own, bytes), writeFile(theirs, made)]);
    const [kept, sent] = await Promise.all([readVideo(own), readVideo(theirs)]);
    expect([kept.audio, sent.audio?.codec]).toEqual([null, 'aac']);
    expect(kept.digest.split(' ')[0]).toBe(sent.digest.split(' ')[0]);
  });

  test('kling-3.0-turbo always returns sound; it is removed if not requested', async () => {
    const prompt = `${PROMPT}, in silence`;
    const id = await service.generate('kling-3.0-turbo', prompt, { configs: { generateAudio: false } });
    const file = await service.waitForEnd(id);
    expect(file).toMatchObject({ status: 'UPLOADED', generation: { provider: 'live', warnings: [] } });
    expect(vendors.kling.paidFor(prompt)).toBe(1);
    const path = join(folder, `${id}.mp4`);
    await writeFile(path, await service.bytesOf(id));
    expect((await readVideo(path)).audio).toBeNull();
  });

  // Under Temporal every kill costs a heartbeat timeout; temporal.test.ts covers those.
  test.skipIf(engine === 'temporal')(
    'a worker killed while vendors accept its orders pays for each once',
    { timeout: 120_000 },
    async () => {
      const dead = Promise.withResolvers<void>();
      const taken = NAMES.map((name) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        vendors[name].after = async ({ method }) => {
          if (method !== 'POST') return undefined;
          vendors[name].after = () => undefined;
          resolve();
          await dead.promise;
          return 'reset';
        };
        return promise;
      });
      const prompt = `${PROMPT}, twice`;
      const ids = await Promise.all(NAMES.map((name) => generate(name, prompt)));
      await Promise.all(taken);
      await workers.at(-1)?.end('SIGKILL');
      dead.resolve();
      await startWorker();
      for (const [index, name] of NAMES.entries()) {
        const file = await service.waitForEnd(ids[index] ?? '', 90);
        // Only Kling can look up an order by our own id.
        const [status, code] = name === 'kling' ? ['UPLOADED'] : ['FAILED', 'SUBMIT_OUTCOME_UNKNOWN'];
        expect([name, file.status, file.generation?.error?.code]).toEqual([name, status, code]);
        expect(vendors[name].paidFor(prompt), name).toBe(1);
      }
    },
  );

  test('kling: an order that timed out but was accepted is found and not submitted again', async () => {
    vendors.kling.after = ({ method }) =>
      method === 'POST' ? { status: 504, body: { code: 5002, message: 'timeout' } } : undefined;
    const prompt = `${PROMPT}, in time`;
    expect((await service.waitForEnd(await generate('kling', prompt))).status).toBe('UPLOADED');
    expect(vendors.kling.paidFor(prompt)).toBe(1);
  });

  test.each(NAMES)('%s: keys, prompts and URLs in vendor responses are redacted', async (name) => {
    const leakyMessage = `${KEYS[name]} "${PROMPT}" https://files.example.com/video.mp4?Signature=abc`;
    for (const [status, code, rejected] of [
      [400, 1200, 'PROVIDER_REJECTED'],
      [401, 1000, 'PROVIDER_AUTH'],
    ] as const) {
      const error = { code: 'Other', type: 'other', message: leakyMessage };
      vendors[name].before = ({ method }) =>
        method === 'POST' ? { status, body: { code, message: leakyMessage, error, detail: leakyMessage } } : undefined;
      const file = await service.waitForEnd(await generate(name, PROMPT));
      expect(file).toMatchObject({ status: 'FAILED', generation: { error: { code: rejected } } });
      const message = file.generation?.error?.message ?? '';
      for (const secret of [KEYS[name], 'must stay secret', 'ignature=']) expect(message).not.toContain(secret);
    }
  });

  test('a video canceled in the vendor queue is not made', async () => {
    const polled = Promise.withResolvers<void>();
    seedance.progress = () => {
      polled.resolve();
      return { status: 'queued' };
    };
    const prompt = `${PROMPT}, or rather not`;
    const id = await generate('seedance', prompt);
    await polled.promise;
    await service.client.files.cancel({ params: { id } });
    expect((await service.waitForEnd(id)).status).toBe('CANCELED');
    await until(
      'the vendor has canceled the job',
      () => seedance.orders.find((order) => order.prompt === prompt)?.canceled,
    );
    seedance.progress = () => ({ status: 'succeeded' });
  });
});
