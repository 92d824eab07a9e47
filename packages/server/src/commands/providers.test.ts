import { createWorkerClient } from '@review/client/worker';
import { FAMILIES, timestampOf } from '@review/contract';
import { beforeEach, expect, test } from 'vitest';
import { emptyQueue, FILM, fileOf, generate, lapse, reserveSubmit } from '../rooms/generation/test/generations.ts';
import { newPicture } from '../rooms/media/test/media.ts';
import { onEachDatabase } from '../test/house.ts';
import { review, reviewJson } from '../test/review.ts';

onEachDatabase(
  (house) => {
    const settings = () => ({ DATABASE_URL: house().databaseUrl });
    /** A command may take longer than the lifetime of a heartbeat. */
    const see = (worker: string, secondsFromNow: number) =>
      house()
        .deps.db.updateTable('workers')
        .set({ seen_at: house().deps.clock(secondsFromNow) })
        .where('name', '=', worker)
        .execute();
    const client = () => createWorkerClient({ baseUrl: house().url, token: house().deps.config.workerToken });

    const claim = async (worker: string) => (await client().claim({ body: { worker, most: 10, wait: 0 } })).data.tasks;
    const idsOf = (tasks: { fileId: string }[]) => tasks.map(({ fileId }) => fileId);

    beforeEach(async () => {
      await emptyQueue(house());
      for (const name of ['workers', 'paused_families'] as const) await house().deps.db.deleteFrom(name).execute();
    });

    const reason = 'TENCENTCLOUD_SECRET_ID is set, TENCENTCLOUD_SECRET_KEY is not.';
    const refusal = { family: 'veo', type: 'BALANCE', message: 'The account is empty.', at: timestampOf(0) } as const;
    const report = async () => {
      await client().register({
        body: { worker: 'left', version: '1.2.3', families: [{ family: 'veo', state: 'live' }], refusals: [refusal] },
      });
      await client().register({
        body: {
          worker: 'right',
          families: [
            { family: 'meshy', state: 'live' },
            { family: 'hunyuan3d', state: 'misconfigured', reason },
          ],
        },
      });
      for (const worker of ['left', 'right']) await see(worker, 3600);
    };

    test('providers: lists the state of every family on the living workers, with the last refusal', async () => {
      const nothing = { reason: null, workers: [], refusal: null, paused: null };
      expect(await reviewJson(settings(), 'providers')).toEqual(
        FAMILIES.map((family) => ({ family, state: 'no worker', ...nothing })),
      );
      await report();
      const listed = await reviewJson<{ family: string }[]>(settings(), 'providers');
      const shown = (family: string) => listed.find((entry) => entry.family === family);
      expect(shown('meshy')).toEqual({ ...nothing, family: 'meshy', state: 'live', workers: ['right'] });
      expect(shown('kling')).toEqual({ ...nothing, family: 'kling', state: 'sandbox', workers: ['left', 'right'] });
      expect(shown('veo')).toEqual({
        ...nothing,
        family: 'veo',
        state: 'live',
        workers: ['left'],
        refusal: { ...refusal, worker: 'left' },
      });
      expect(shown('hunyuan3d')).toEqual({
        ...nothing,
        family: 'hunyuan3d',
        state: 'sandbox',
        reason,
        workers: ['left'],
      });

      await see('left', -3600);
      const { code, output } = await review(settings(), 'providers');
      expect(code).toBe(0);
      expect(output).toMatch(/^FAMILY +STATE +WORKERS +PAUSED +LAST REFUSAL$/m);
      expect(output).toMatch(/^meshy +live +right +- +-$/m);
      expect(output).toMatch(/^veo +sandbox +right +- +1970-01-01 00:00:00.000000 BALANCE: The account is empty.$/m);
      expect(output).toMatch(/^hunyuan3d +misconfigured: TENCENTCLOUD_SECRET_ID is set.* +right +- +-$/m);
    });

    test('workers: lists living and dead workers with age, version and families', async () => {
      expect(await reviewJson(settings(), 'workers')).toEqual([]);
      await report();
      await see('right', -3600);
      expect(await reviewJson(settings(), 'workers')).toMatchObject([
        {
          name: 'left',
          alive: true,
          version: '1.2.3',
          families: [{ family: 'veo', state: 'live' }],
          refusals: [refusal],
        },
        { name: 'right', alive: false, version: null },
      ]);
      const { code, output } = await review(settings(), 'workers');
      expect(code).toBe(0);
      expect(output).toMatch(/^WORKER +STATE +SEEN +STARTED +VERSION +HOLDS +FAMILIES$/m);
      expect(output).toMatch(/^left +alive +\d+ s ago +\d{4}-.* +1\.2\.3 +0 +live: veo$/m);
      expect(output).toMatch(/^right +dead +\d{4} s ago +\d{4}-.* +- +0 +live: meshy; misconfigured: hunyuan3d$/m);
    });

    test('a paused family starts no generation, and continues those that run', async () => {
      const running = await generate(house(), FILM);
      expect(idsOf(await claim('left'))).toEqual([running]);
      await reserveSubmit(house(), { id: running, epoch: 1 });
      const held = await generate(house(), FILM);
      expect(idsOf(await claim('left'))).toEqual([held]);
      expect(await reviewJson(settings(), 'providers', 'pause', 'seedance', '--reason', 'invoices')).toEqual({
        family: 'seedance',
        reason: 'invoices',
      });
      const [waiting, other] = [await generate(house(), FILM), await generate(house())];
      await lapse(house());
      expect(idsOf(await claim('left')).toSorted()).toEqual([running, other].toSorted());
      expect((await fileOf(house(), waiting)).generation).toMatchObject({ status: 'QUEUED', waitingFor: 'PAUSED' });
      const listed = await reviewJson<{ family: string }[]>(settings(), 'providers');
      expect(listed.find(({ family }) => family === 'seedance')).toMatchObject({
        paused: { at: expect.any(String), reason: 'invoices' },
      });

      const again = await review(settings(), 'providers', 'pause', 'seedance');
      expect([again.code, again.output]).toEqual([0, 'seedance was paused; the reason is replaced.\n']);
      expect((await review(settings(), 'providers')).output).toMatch(/^seedance +no worker +- +\d{4}-\S+ \S+ +-$/m);
      expect((await review(settings(), 'providers', 'resume', 'seedance')).output).toBe('seedance is resumed.\n');
      expect(idsOf(await claim('left')).toSorted()).toEqual([held, waiting].toSorted());
      const { code, errors } = await review(settings(), 'providers', 'resume', 'seedance');
      expect([code, errors]).toEqual([1, expect.stringContaining('seedance is not paused.')]);
    });

    test('a family that does not exist is not paused', async () => {
      const { code, errors } = await review(settings(), 'providers', 'pause', 'sora');
      expect([code, errors]).toEqual([1, expect.stringMatching(/there is no family sora; write one of document, /)]);
    });

    test('a draining worker claims nothing and keeps what it holds, until it is resumed or restarted', async () => {
      const register = (worker: string) => client().register({ body: { worker, families: [] } });
      const heartbeat = async () =>
        (await client().heartbeat({ body: { worker: 'left', families: [] } })).data.draining;
      await register('left');
      const first = await generate(house());
      expect(idsOf(await claim('left'))).toEqual([first]);
      expect(await heartbeat()).toBe(false);

      expect(await reviewJson(settings(), 'workers', 'drain', 'left')).toEqual({ name: 'left' });
      const { drainingSince } = (await reviewJson<{ drainingSince: string }[]>(settings(), 'workers'))[0] ?? {};
      expect(await heartbeat()).toBe(true);
      const second = await generate(house());
      expect(await claim('left')).toEqual([]);
      expect((await fileOf(house(), second)).generation?.waitingFor).toBe('WORKER');
      expect(
        (await client().renew({ body: { worker: 'left', tasks: [{ fileId: first, epoch: 1 }] } })).data.lost,
      ).toEqual([]);
      await reviewJson(settings(), 'workers', 'drain', 'left');
      expect(await reviewJson(settings(), 'workers')).toMatchObject([{ name: 'left', holds: 1, drainingSince }]);
      expect((await review(settings(), 'workers')).output).toMatch(/^left +draining .* 1/m);
      await lapse(house());
      expect(await claim('left')).toEqual([]);

      await reviewJson(settings(), 'workers', 'resume', 'left');
      expect(await heartbeat()).toBe(false);
      expect(idsOf(await claim('left'))).toEqual([first, second]);
      await reviewJson(settings(), 'workers', 'drain', 'left');
      await register('left');
      expect(await heartbeat()).toBe(false);

      for (const word of ['drain', 'resume']) {
        const { code, errors } = await review(settings(), 'workers', word, 'nobody');
        expect([code, errors]).toEqual([1, expect.stringContaining('There is no worker nobody.')]);
      }
    });

    test('a draining worker claims neither webhooks nor media, and workers that do not name themselves do', async () => {
      const { client: api } = house().people.owner;
      const params = { id: house().projectId };
      await client().register({ body: { worker: 'left', families: [] } });
      await reviewJson(settings(), 'workers', 'drain', 'left');
      await api.webhooks.create({ params, body: { url: 'https://a.example/', types: ['webhook.created'] } });
      const fileId = await newPicture(house());
      const claims = async (body: { worker?: string; most: number; wait: number }) => [
        (await client().claimWebhooks({ body })).data.webhooks.length,
        (await client().claimMedia({ body })).data.files.map(({ fileId }) => fileId),
      ];
      expect(await claims({ worker: 'left', most: 5, wait: 0 })).toEqual([0, []]);
      expect(await claims({ most: 5, wait: 0 })).toEqual([1, [fileId]]);
    });
  },
  { GENERATION_SLOTS: 'VIDEO=3' },
);
