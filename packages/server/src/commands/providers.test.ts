import { createWorkerClient } from '@review/client/worker';
import { FAMILIES, timestampOf } from '@review/contract';
import { beforeEach, expect, test } from 'vitest';
import { onEachDatabase } from '../test/house.ts';
import { review, reviewJson } from '../test/review.ts';

onEachDatabase((house) => {
  const settings = () => ({ DATABASE_URL: house().databaseUrl });
  /** A command may take longer than the lifetime of a heartbeat. */
  const see = (worker: string, secondsFromNow: number) =>
    house()
      .deps.db.updateTable('workers')
      .set({ seen_at: house().deps.clock(secondsFromNow) })
      .where('name', '=', worker)
      .execute();
  const client = () => createWorkerClient({ baseUrl: house().url, token: house().deps.config.workerToken });

  beforeEach(() => house().deps.db.deleteFrom('workers').execute());

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
    const nothing = { reason: null, workers: [], refusal: null };
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
    expect(output).toMatch(/^FAMILY +STATE +WORKERS +LAST REFUSAL$/m);
    expect(output).toMatch(/^meshy +live +right +-$/m);
    expect(output).toMatch(/^veo +sandbox +right +1970-01-01 00:00:00.000000 BALANCE: The account is empty.$/m);
    expect(output).toMatch(/^hunyuan3d +misconfigured: TENCENTCLOUD_SECRET_ID is set.* +right +-$/m);
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
    expect(output).toMatch(/^WORKER +STATE +SEEN +STARTED +VERSION +FAMILIES$/m);
    expect(output).toMatch(/^left +alive +\d+ s ago +\d{4}-.* +1\.2\.3 +live: veo$/m);
    expect(output).toMatch(/^right +dead +\d{4} s ago +\d{4}-.* +- +live: meshy; misconfigured: hunyuan3d$/m);
  });
});
