import { createWorkerClient } from '@review/client';
import { FAMILIES } from '@review/contract';
import { expect, test } from 'vitest';
import { onEachDatabase } from '../test/house.ts';
import { review, reviewJson } from '../test/review.ts';

onEachDatabase((house) => {
  const settings = () => ({ DATABASE_URL: house().databaseUrl });
  const hello = (worker: string, families: Parameters<ReturnType<typeof client>['hello']>[0]['body']['families']) =>
    client().hello({ body: { worker, families } });
  const client = () => createWorkerClient({ baseUrl: house().url, token: house().deps.config.workerToken });

  test('every family stands as a worker reported it last', async () => {
    const silence = { state: 'not reported', reason: null, worker: null, reportedAt: null };
    expect(await reviewJson(settings(), 'providers')).toEqual(FAMILIES.map((family) => ({ family, ...silence })));

    await hello('left', [
      { family: 'meshy', state: 'sandbox' },
      { family: 'veo', state: 'live' },
    ]);
    const reason = 'TENCENTCLOUD_SECRET_ID is set, TENCENTCLOUD_SECRET_KEY is not.';
    await hello('right', [
      { family: 'meshy', state: 'live' },
      { family: 'hunyuan3d', state: 'misconfigured', reason },
    ]);
    const listed = await reviewJson<{ family: string }[]>(settings(), 'providers');
    const shown = (family: string) => listed.find((entry) => entry.family === family);
    const reportedAt = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/);
    expect(shown('meshy')).toEqual({ family: 'meshy', state: 'live', reason: null, worker: 'right', reportedAt });
    expect(shown('veo')).toEqual({ family: 'veo', state: 'live', reason: null, worker: 'left', reportedAt });
    expect(shown('hunyuan3d')).toEqual({
      family: 'hunyuan3d',
      state: 'misconfigured',
      reason,
      worker: 'right',
      reportedAt,
    });
    expect(shown('kling')).toEqual({ family: 'kling', ...silence });

    const { code, output } = await review(settings(), 'providers');
    expect(code).toBe(0);
    expect(output).toMatch(/^FAMILY +STATE +WORKER +REPORTED$/m);
    expect(output).toMatch(/^meshy +live +right +\d{4}-/m);
    expect(output).toMatch(/^hunyuan3d +misconfigured: TENCENTCLOUD_SECRET_ID is set.* +right +\d{4}-/m);
    expect(output).toMatch(/^kling +not reported +- +never$/m);
  });
});
