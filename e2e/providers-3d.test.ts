import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { VendorRequest } from '../packages/worker/src/families/test/double.ts';
import { type HunyuanDouble, startHunyuan } from '../packages/worker/src/families/test/hunyuan3d.ts';
import { mediaOf } from '../packages/worker/src/families/test/media.ts';
import { type MeshyDouble, startMeshy } from '../packages/worker/src/families/test/meshy.ts';
import { field } from '../scripts/json-field.ts';
import type { Program } from './processes.ts';
import { NO_MEDIA, Service } from './service.ts';
import { ENGINES, TemporalServer } from './temporal-server.ts';

const SECRET_KEY = 'tencent-secret-of-the-e2e';
const ENDED_SECONDS = 55;

describe.each(ENGINES)('3D under the engine %s', (engine) => {
  describe('with the keys of both vendors', () => {
    let temporal: TemporalServer | undefined;
    let meshy: MeshyDouble;
    let hunyuan: HunyuanDouble;
    let service: Service;
    const workers: Program[] = [];

    beforeAll(async () => {
      [meshy, hunyuan] = [await startMeshy(), await startHunyuan()];
      if (engine === 'temporal') temporal = await TemporalServer.start();
      service = await Service.start({
        ...NO_MEDIA,
        LOG_LEVEL: 'debug',
        MESHY_API_KEY: meshy.key,
        MESHY_BASE_URL: meshy.url,
        TENCENTCLOUD_SECRET_ID: hunyuan.secretId,
        TENCENTCLOUD_SECRET_KEY: SECRET_KEY,
        HUNYUAN_ENDPOINT: hunyuan.url,
        GENERATION_SLOTS: '3D=20',
        ...(temporal && { TEMPORAL_ADDRESS: temporal.address, RECONCILE_SECONDS: '5' }),
      });
      await startWorker();
    });
    afterAll(async () => {
      await service?.[Symbol.asyncDispose]();
      await temporal?.[Symbol.asyncDispose]();
      await meshy?.[Symbol.asyncDispose]();
      await hunyuan?.[Symbol.asyncDispose]();
    });

    async function startWorker(): Promise<void> {
      const worker = await service.startWorker('left', { LOG_LEVEL: 'debug' });
      if (engine === 'temporal') await worker.waitForOutput('serving the queues');
      workers.push(worker);
    }

    async function generate(outputModel: string, prompt: string, attachments: { id: string }[] = []): Promise<string> {
      const body = { outputType: '3D', outputModel, prompt, folder: null, attachments } as const;
      return (await service.client.generation.generate({ params: { id: service.projectId }, body })).data.id;
    }

    async function expectFile(id: string, bytes: Buffer, warning: RegExp | null): Promise<void> {
      const file = await service.waitForEnd(id, ENDED_SECONDS);
      const warnings = warning === null ? [] : [expect.stringMatching(warning)];
      expect(file).toMatchObject({
        status: 'UPLOADED',
        mimeType: 'model/gltf-binary',
        generation: { provider: 'live', progress: 1, error: null, warnings },
      });
      expect((await service.bytesOf(id)).equals(bytes)).toBe(true);
    }

    test('a prompt becomes the 3D file that the vendor made', async () => {
      const [byMeshy, byHunyuan] = [
        await generate('meshy-7', 'Ember kettle'),
        await generate('hunyuan3d-3.1', 'Ash jug'),
      ];
      await service.waitForEnd(byMeshy, ENDED_SECONDS);
      const refined = meshy.orders.find(({ prompt, stage }) => prompt === 'Ember kettle' && stage === 'refine');
      await expectFile(byMeshy, await mediaOf('meshy-7', refined?.id ?? ''), /"latest"/);
      expect(meshy.orders.filter(({ prompt }) => prompt === 'Ember kettle')).toHaveLength(2);
      await service.waitForEnd(byHunyuan, ENDED_SECONDS);
      const made = hunyuan.orders.find(({ prompt }) => prompt === 'Ash jug');
      await expectFile(byHunyuan, await mediaOf('hunyuan3d-3.1', made?.id ?? ''), null);
    });

    test('images become 3D files, and the file records how the prompt was used', async () => {
      const picture = await mediaOf('gpt-image-2', 'front');
      const attachments = [await service.attach(picture)];
      const byMeshy = await generate('meshy-7', 'Willow basket', attachments);
      const byHunyuan = await generate('hunyuan3d-3.1', 'Birch bowl', attachments);
      await service.waitForEnd(byMeshy, ENDED_SECONDS);
      const order = meshy.orders.find(({ prompt }) => prompt === 'Willow basket');
      await expectFile(byMeshy, await mediaOf('meshy-7', order?.id ?? ''), /texture only/);
      await service.waitForEnd(byHunyuan, ENDED_SECONDS);
      const other = hunyuan.orders.find(({ prompt }) => prompt === 'a picture');
      await expectFile(byHunyuan, await mediaOf('hunyuan3d-3.1', other?.id ?? ''), /prompt was ignored/);
      const sent = hunyuan.requests.map(({ body }) => field(body, 'ImageBase64'));
      expect(sent).toContain(picture.toString('base64'));
    });

    const isOrderOf = (stage: string, { headers, body }: VendorRequest): boolean =>
      stage === 'submit' ? headers['x-tc-action'] === 'SubmitHunyuanTo3DProJob' : field(body, 'mode') === stage;

    /** Kills the worker while it submits that stage, before or after the vendor accepts the order. */
    async function killedIn(stage: string, moment: 'before' | 'after', prompt: string): Promise<string> {
      const [vendor, model] = stage === 'submit' ? [hunyuan, 'hunyuan3d-3.1'] : [meshy, 'meshy-7'];
      const killed = Promise.withResolvers<void>();
      let isKilled = false;
      vendor[moment] = async (request) => {
        if (!isOrderOf(stage, request) || isKilled) return undefined;
        isKilled = true;
        await Promise.all([...service.workers].map((worker) => worker.end('SIGKILL')));
        killed.resolve();
        return 'reset';
      };
      const id = await generate(model, prompt);
      await killed.promise;
      await startWorker();
      const file = await service.waitForEnd(id, ENDED_SECONDS);
      vendor[moment] = () => undefined;
      return file.generation?.error?.code ?? file.status;
    }

    const KILLS: [stage: string, moment: 'before' | 'after', paid: Record<string, number>][] = [
      ['preview', 'after', { preview: 1, refine: 0 }],
      ['refine', 'after', { preview: 1, refine: 1 }],
      ['submit', 'after', { submit: 1 }],
      ['preview', 'before', { preview: 0, refine: 0 }],
      ['refine', 'before', { preview: 1, refine: 0 }],
      ['submit', 'before', { submit: 0 }],
    ];

    // One case is enough under Temporal, where each kill costs a heartbeat timeout.
    test.each(engine === 'embedded' ? KILLS : KILLS.slice(0, 1))(
      'a worker killed while submitting %s, %s the vendor accepts: never submitted again',
      async (stage, moment, paid) => {
        const prompt = `Quartz ${stage} ${moment}`;
        expect(await killedIn(stage, moment, prompt)).toBe('SUBMIT_OUTCOME_UNKNOWN');
        const vendor = stage === 'submit' ? hunyuan : meshy;
        for (const [each, count] of Object.entries(paid)) expect(vendor.paidFor(prompt, each), each).toBe(count);
      },
    );

    test.skipIf(engine === 'temporal')(
      'a worker killed while the job runs: the job is resumed and nothing is ordered twice',
      async () => {
        const prompt = 'Slate clock';
        meshy.stateOf = (id) => {
          const isOurs = meshy.orders.find((order) => order.id === id)?.prompt === prompt;
          return isOurs && workers.length === before
            ? { status: 'IN_PROGRESS', progress: 40 }
            : { status: 'SUCCEEDED' };
        };
        const before = workers.length;
        const id = await generate('meshy-7', prompt);
        await expect.poll(async () => (await service.file(id)).generation?.progress).toBeCloseTo(0.16);
        await Promise.all([...service.workers].map((worker) => worker.end('SIGKILL')));
        await startWorker();
        expect((await service.waitForEnd(id, ENDED_SECONDS)).status).toBe('UPLOADED');
        expect([meshy.paidFor(prompt, 'preview'), meshy.paidFor(prompt, 'refine')]).toEqual([1, 1]);
      },
    );

    test('an account error is logged for the operator and hidden from the user', async () => {
      meshy.before = ({ method }) =>
        method === 'POST' ? { status: 402, body: { message: 'plan Pro is used up' } } : undefined;
      const id = await generate('meshy-7', 'Flint lantern');
      const { generation } = await service.waitForEnd(id, ENDED_SECONDS);
      meshy.before = () => undefined;
      expect(generation?.error).toMatchObject({ code: 'PROVIDER_QUOTA', message: expect.not.stringContaining('Pro') });
      expect(workers.at(-1)?.output).toContain('plan Pro is used up');
    });

    test('canceling a generation cancels the job at the vendor', async () => {
      meshy.stateOf = () => ({ status: 'IN_PROGRESS', progress: 10 });
      const id = await generate('meshy-7', 'Copper vane');
      await expect.poll(() => meshy.paidFor('Copper vane')).toBe(1);
      await service.client.files.cancel({ params: { id } });
      const isCanceled = () => meshy.orders.find(({ prompt }) => prompt === 'Copper vane')?.canceled;
      await expect.poll(isCanceled).toBe(true);
      meshy.stateOf = () => ({ status: 'SUCCEEDED' });
    });

    test('no log line contains a key, a prompt or a presigned URL', () => {
      const logs = [...workers, service.server].map((program) => program?.output).join('\n');
      expect(logs).toContain('plan Pro is used up');
      const prompts = [...meshy.orders, ...hunyuan.orders].map(({ prompt }) => prompt);
      expect(prompts.length).toBeGreaterThan(4);
      const secrets = [meshy.key, hunyuan.secretId, SECRET_KEY, 'Signature=', 'q-signature', 'TC3-HMAC', 'base64,'];
      for (const secret of [...secrets, ...prompts.filter((prompt) => prompt !== 'a picture'), 'Flint lantern']) {
        expect(logs.includes(secret), secret).toBe(false);
      }
    });
  });
});
