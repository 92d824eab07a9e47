import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readProviders } from '../config.ts';
import { Metrics } from '../metrics.ts';
import { StepError, type StepErrorType } from '../step-error.ts';
import { fakeFamily } from '../test/fake-family.ts';
import { openFamilies } from './open.ts';
import { callFor, taskFor } from './test/asking.ts';
import { KLING_KEY, refusal, startKling } from './test/kling.ts';
import { type RefusedAccount, watchRefusals } from './watch-refusals.ts';

const JOB = { id: '1', orderedAt: 0 };

test('a refusal of the account is logged, passed to the callback and counted', async () => {
  await using vendor = await startKling();
  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(line) });
  const settings = readProviders({ KLING_API_KEY: KLING_KEY, KLING_BASE_URL: vendor.url });
  const metrics = new Metrics();
  const reported: RefusedAccount[] = [];
  const families = watchRefusals(openFamilies(settings, fakeFamily(), log).family, (refused) => {
    reported.push(refused);
    metrics.countRefusal(refused.family, refused.type);
  });
  const call = callFor(taskFor('kling-3.0'));

  vendor.before = () => refusal(429, 1102, `the pack of ${KLING_KEY} is used up`);
  await expect(families('kling', null).submit(call)).rejects.toMatchObject({ type: 'BALANCE' });
  vendor.before = () => refusal(401, 1002, 'wrong key');
  await expect(families('kling', null).poll({ ...call, job: JOB })).rejects.toMatchObject({ type: 'AUTH' });
  await expect(families('kling', null).lookUp?.(call)).rejects.toMatchObject({ type: 'AUTH' });
  vendor.before = () => refusal(400, 1301, 'rude');
  await expect(families('kling', null).submit(call)).rejects.toMatchObject({ type: 'CONTENT_POLICY' });

  expect(reported).toEqual([
    { family: 'kling', type: 'BALANCE', message: 'the pack of […] is used up (1102)' },
    { family: 'kling', type: 'AUTH', message: 'wrong key (1002)' },
    { family: 'kling', type: 'AUTH', message: 'wrong key (1002)' },
  ]);
  const account = new URL(vendor.url).host;
  expect(logged.map((line) => JSON.parse(line))).toMatchObject(
    reported.map(({ message }) => ({ level: 50, family: 'kling', account, provider: 'Kling', said: message })),
  );
  const told = await metrics.registry.metrics();
  expect(told).toContain('provider_refusals_total{family="kling",type="AUTH"} 2');
  expect(told).toContain('provider_refusals_total{family="kling",type="BALANCE"} 1');
});

test('incomplete settings are reported when they are used', () => {
  const settings = readProviders({ TENCENTCLOUD_SECRET_ID: 'id' });
  const reported: RefusedAccount[] = [];
  const { family } = openFamilies(settings, fakeFamily(), pino({ level: 'silent' }));
  const check = () =>
    watchRefusals(family, (refused) => reported.push(refused))('hunyuan3d', null).check(taskFor('hunyuan3d-3.1'));
  expect(check).toThrow(/does not accept the key/);
  expect(reported).toMatchObject([
    { family: 'hunyuan3d', type: 'AUTH', message: expect.stringContaining('TENCENTCLOUD_SECRET_KEY is not') },
  ]);
});

test.each<StepErrorType>(['TRANSIENT', 'RATE_LIMITED', 'PROVIDER_FAILED', 'INVALID_INPUT'])(
  '%s is not about the account, and is not reported',
  async (type) => {
    const error = new StepError(type, 'no');
    const reported: RefusedAccount[] = [];
    const family = fakeFamily({ download: () => Promise.reject(error) });
    const watched = watchRefusals(
      () => family,
      (refused) => reported.push(refused),
    )('meshy', null);
    const call = { ...callFor(taskFor('meshy-7')), output: {}, path: '', onProgress: () => {} };
    await expect(watched.download(call)).rejects.toBe(error);
    expect([reported, watched.lookUp]).toEqual([[], undefined]);
  },
);
