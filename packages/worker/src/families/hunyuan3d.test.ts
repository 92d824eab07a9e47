import type { WorkerTask } from '@review/contract';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { REFUSING_ADDRESS } from '../../../../scripts/free-port.ts';
import { prepare } from '../steps/prepare.ts';
import { testKeyedAccount } from '../test/account.ts';
import { testErrorCodes } from '../test/error-codes.ts';
import { contextOf } from '../test/fake-family.ts';
import { type FakeServer, fakeServer } from '../test/fake-server.ts';
import type { Family } from './family.ts';
import { type CloudAccount, hunyuan3d, meaningOf, type TokenHubAccount } from './hunyuan3d.ts';
import { contextFor, downloaded, idOf, startStorage } from './test/asking.ts';
import type { Reply } from './test/double.ts';
import { ERROR_CLASSES, ERROR_CODES, type HunyuanDouble, type HunyuanState, startHunyuan } from './test/hunyuan3d.ts';
import { mediaOf } from './test/media.ts';

const storage = await startStorage();
const attachments = [await storage.picture(1, { format: 'webp' }), await storage.picture(2, { format: 'gif' })];
afterAll(() => storage[Symbol.asyncDispose]());

let server: FakeServer;
let double: HunyuanDouble;
let logged: string[];
beforeEach(async () => {
  server = await fakeServer();
  double = await startHunyuan();
  logged = [];
});
afterEach(async () => {
  await double[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const SECRET_KEY = 'a-secret-key-of-tencent';
const cloud = (own: Partial<CloudAccount> = {}): CloudAccount => ({
  transport: 'tencent-cloud',
  secretId: double.secretId,
  secretKey: SECRET_KEY,
  endpoint: double.url,
  version: '2023-09-01',
  region: 'ap-singapore',
  takesModel: true,
  ...own,
});
const hub = (own: Partial<TokenHubAccount> = {}): TokenHubAccount => ({
  transport: 'token-hub',
  apiKey: double.key,
  baseUrl: double.url,
  ...own,
});
const open = (account: CloudAccount | TokenHubAccount, modelMap: Record<string, string> = {}) =>
  hunyuan3d.open(account, contextFor(modelMap, logged));

const soon = () => AbortSignal.timeout(20_000);
const taskOf = (own: Partial<WorkerTask> = {}): WorkerTask => server.add('hunyuan3d-3.1', own).row;
const submit = (family: Family, task = taskOf()) =>
  family.submit({ task, signal: soon(), stage: 'submit', clientJobId: 'unused' });

async function poll(family: Family, state: HunyuanState = { status: 'DONE' }) {
  const task = taskOf();
  const submitted = await submit(family, task);
  double.stateOf = () => state;
  if (!('job' in submitted)) throw new Error('there is no job');
  return family.poll({ task, signal: soon(), job: submitted.job });
}

const TRANSPORTS = [
  ['Tencent Cloud', () => open(cloud())],
  ['TokenHub', () => open(hub())],
] as const;

describe('a submit', () => {
  const settings = { EnablePBR: true, GenerateType: 'Normal' };

  test('sends a prompt, signed for Tencent Cloud', async () => {
    expect(await submit(open(cloud()))).toEqual({ job: { id: 'job-1' }, warnings: [] });
    expect(double.requests).toMatchObject([
      {
        method: 'POST',
        path: '/',
        headers: {
          'x-tc-action': 'SubmitHunyuanTo3DProJob',
          'x-tc-version': '2023-09-01',
          'x-tc-region': 'ap-singapore',
          authorization: expect.stringMatching(/^TC3-HMAC-SHA256 Credential=AKIDdouble\//),
        },
      },
    ]);
    expect(double.requests[0]?.body).toEqual({ Model: '3.1', Prompt: 'A lamp', ...settings });
  });

  test('sends no model name to a product with one model, unless PROVIDER_MODEL_MAP names it', async () => {
    double.takesModel = false;
    await submit(open(cloud({ takesModel: false })));
    expect(double.requests[0]?.body).toEqual({ Prompt: 'A lamp', ...settings });
    const named = submit(open(cloud({ takesModel: false }), { 'hunyuan3d-3.1': '3.1' }));
    await expect(named).rejects.toMatchObject({ type: 'INVALID_INPUT' });
  });

  test('sends a prompt to TokenHub', async () => {
    expect(await submit(open(hub()))).toEqual({ job: { id: 'job-1' }, warnings: [] });
    expect(double.requests).toMatchObject([
      { path: '/v1/api/3d/submit', headers: { authorization: `Bearer ${double.key}` } },
    ]);
    expect(double.requests[0]?.body).toEqual({
      model: 'hy-3d-3.1',
      prompt: 'A lamp',
      enable_pbr: true,
      generate_type: 'Normal',
    });
  });

  test.each(TRANSPORTS)('of a picture by %s ignores the prompt, with a warning', async (_, family) => {
    const { warnings } = await submit(family(), taskOf({ attachments: attachments.slice(0, 1) }));
    expect(warnings).toEqual([expect.stringContaining('the prompt was ignored')]);
    const { body } = double.requests[0] ?? {};
    const picture = storage.kept.get(idOf(1))?.toString('base64');
    expect(Object.values(body ?? {})).toContain(picture);
    expect(body).not.toHaveProperty('Prompt');
    expect(body).not.toHaveProperty('prompt');
  });

  test('converts a picture of another type to PNG', async () => {
    await submit(open(cloud()), taskOf({ attachments: attachments.slice(1) }));
    expect(double.requests[0]?.body).toMatchObject({ ImageBase64: expect.stringMatching(/^iVBOR/) });
  });

  test.each([
    ['Tencent Cloud', () => open(cloud(), { 'hunyuan3d-3.1': '3.0' }), { Model: '3.0' }],
    ['TokenHub', () => open(hub(), { 'hunyuan3d-3.1': 'hy-3d-3.0' }), { model: 'hy-3d-3.0' }],
  ] as const)('uses the model of PROVIDER_MODEL_MAP at %s', async (_, family, body) => {
    await submit(family());
    expect(double.requests).toMatchObject([{ body }]);
  });

  test.each([
    [{ prompt: 'a'.repeat(1025) }, /at most 1024 characters/],
    [{ attachments }, /at most 1 attachment;/],
  ])('beyond the caps of Hunyuan3D is refused before any request', async (own, message) => {
    const { handed } = server.add('hunyuan3d-3.1', own);
    await expect(prepare(contextOf(server, open(cloud())), handed)).rejects.toMatchObject({
      type: 'INVALID_INPUT',
      message: expect.stringMatching(message),
    });
    expect(double.requests).toEqual([]);
  });
});

const CODES = [
  ['InvalidParameter', 'INVALID_INPUT'],
  ['InvalidParameterValue.Prompt', 'INVALID_INPUT'],
  ['MissingParameter', 'INVALID_INPUT'],
  ['FailedOperation.ImageDownloadError', 'INVALID_INPUT'],
  ['FailedOperation.ImageDecodeFailed', 'INVALID_INPUT'],
  ['OperationDenied.TextIllegalDetected', 'CONTENT_POLICY'],
  ['OperationDenied.ImageIllegalDetected', 'CONTENT_POLICY'],
  ['FailedOperation.PromptModerationNotPass', 'CONTENT_POLICY'],
  ['InvalidParameterValue.SensitiveWords', 'CONTENT_POLICY'],
  ['AuthFailure.SignatureFailure', 'AUTH'],
  ['AuthFailure.SecretIdNotFound', 'AUTH'],
  ['UnauthorizedOperation', 'AUTH'],
  ['UnsupportedRegion', 'AUTH'],
  ['ResourceInsufficient', 'BALANCE'],
  ['ResourceUnavailable.InArrears', 'BALANCE'],
  ['ResourceUnavailable.LowBalance', 'BALANCE'],
  ['ResourcesSoldOut.ChargeStatusException', 'BALANCE'],
  ['RequestLimitExceeded', 'RATE_LIMITED'],
  ['RequestLimitExceeded.JobNumExceed', 'RATE_LIMITED'],
  ['LimitExceeded', 'RATE_LIMITED'],
  ['FailedOperation.JobNotExist', 'RESULT_EXPIRED'],
  ['FailedOperation.JobNotFound', 'RESULT_EXPIRED'],
  ['FailedOperation.EngineServerLimitExceeded', 'RATE_LIMITED'],
  ['FailedOperation.FreeResourcePackExhausted', 'BALANCE'],
  ['FailedOperation.ResourcePackExhausted', 'BALANCE'],
  ['FailedOperation.ServiceStopArrears', 'BALANCE'],
  ['FailedOperation.ServiceNotActivated', 'AUTH'],
  ['FailedOperation.ServiceStop', 'AUTH'],
  ['ResourceNotFound', 'RESULT_EXPIRED'],
] as const;
const UNDECIDED = [
  'InternalError',
  'InternalError.Db',
  'FailedOperation.InnerError',
  'FailedOperation.ServerError',
  'RequestTimeout',
  'FailedOperation.EngineRequestTimeout',
  'FailedOperation.EngineServerError',
  'FailedOperation.SomethingNew',
  'SomethingNew',
];

const complaint = (Code: string): Reply => ({
  body: { Response: { Error: { Code, Message: 'as it is' }, RequestId: 'r' } },
});
const hubComplaint = (code: string, status: number): Reply => ({
  status,
  body: { error: { code, message: 'as it is' } },
});

describe('a refusal with status 200', () => {
  test.each(CODES)('%s is %s', async (code, type) => {
    double.before = () => complaint(code);
    await expect(submit(open(cloud()))).rejects.toMatchObject({ type });
    double.before = () => hubComplaint(code, 200);
    await expect(submit(open(hub()))).rejects.toMatchObject({ type });
  });

  test.each(UNDECIDED)('%s makes a submit ambiguous, and a poll is retried', async (code) => {
    double.before = () => complaint(code);
    await expect(submit(open(cloud()))).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
    double.before = () => hubComplaint(code, 200);
    await expect(submit(open(hub()))).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
    double.before = ({ headers }) => (headers['x-tc-action']?.includes('Query') ? complaint(code) : undefined);
    await expect(poll(open(cloud()))).rejects.toMatchObject({ type: 'TRANSIENT' });
  });

  test('has the reason and a delay', async () => {
    double.before = () => complaint('RequestLimitExceeded.JobNumExceed');
    await expect(submit(open(cloud()))).rejects.toMatchObject({
      delayMs: 10_000,
      message: 'Hunyuan3D is busy: as it is',
    });
  });
});

describe('a status', () => {
  test.each([
    [401, 'AUTH'],
    [402, 'BALANCE'],
    [429, 'RATE_LIMITED'],
    [400, 'INVALID_INPUT'],
    [500, 'AMBIGUOUS_SUBMIT'],
    [502, 'AMBIGUOUS_SUBMIT'],
  ] as const)('%i of a submit is %s', async (status, type) => {
    double.before = () => ({ status, body: '' });
    await expect(submit(open(cloud()))).rejects.toMatchObject({ type });
    double.before = () => hubComplaint('something', status);
    await expect(submit(open(hub()))).rejects.toMatchObject({ type });
  });

  test.each(['reset', 'garbage', 'html', { body: { Response: {} } }, { body: {} }] as const)(
    '%o makes a submit ambiguous, on both transports',
    async (mishap) => {
      double.after = () => mishap;
      for (const account of [cloud(), hub()]) {
        await expect(submit(open(account))).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
      }
      expect(double.paidFor('A lamp')).toBe(2);
    },
  );

  test('a submit that times out is ambiguous', async () => {
    double.after = () => 'hang';
    const call = { task: taskOf(), signal: AbortSignal.timeout(200), stage: 'submit', clientJobId: 'unused' };
    await expect(open(cloud()).submit(call)).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
  });

  test('a submit that was not sent is TRANSIENT, and no submit is retried by the library', async () => {
    await expect(submit(open(cloud({ endpoint: REFUSING_ADDRESS })))).rejects.toMatchObject({ type: 'TRANSIENT' });
    double.before = () => ({ status: 500, body: '' });
    await expect(submit(open(cloud()))).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
    expect(double.requests).toHaveLength(1);
  });
});

test('the double refuses what Tencent refuses', async () => {
  await expect(submit(open(cloud({ secretId: 'AKIDother' })))).rejects.toMatchObject({ type: 'AUTH' });
  await expect(submit(open(hub({ apiKey: 'hub-other' })))).rejects.toMatchObject({ type: 'AUTH' });
  await expect(submit(open(cloud(), { 'hunyuan3d-3.1': '2.0' }))).rejects.toMatchObject({ type: 'INVALID_INPUT' });
  double.now = () => Date.now() + 600_000;
  await expect(submit(open(cloud()))).rejects.toMatchObject({ type: 'AUTH' });
  expect(double.orders).toEqual([]);
});

test('errors and logs contain neither the keys nor the prompt', async () => {
  double.before = () => ({
    body: { Response: { Error: { Code: 'AuthFailure', Message: `${double.secretId} ${SECRET_KEY} "A lamp"` } } },
  });
  const error = await submit(open(cloud())).catch((reason: unknown) => String(reason));
  expect(logged).toHaveLength(1);
  for (const secret of [double.secretId, SECRET_KEY, 'A lamp']) expect(`${error} ${logged}`).not.toContain(secret);
});

describe.each(TRANSPORTS)('a poll of %s', (_, family) => {
  test.each([
    ['WAIT', { progress: 0, retryAfterMs: 20_000 }],
    ['RUN', { progress: 0.4, retryAfterMs: 10_000 }],
  ] as const)('%s', async (status, expected) => {
    expect(await poll(family(), { status })).toEqual({ state: 'running', ...expected });
  });

  test.each([
    ['FailedOperation.InnerError', 'PROVIDER_FAILED'],
    ['RequestLimitExceeded', 'PROVIDER_FAILED'],
    ['FailedOperation.ImageDecodeFailed', 'INVALID_INPUT'],
    ['OperationDenied.ImageIllegalDetected', 'CONTENT_POLICY'],
    ['ResourceInsufficient', 'BALANCE'],
  ])('a failure by %s is %s', async (code, type) => {
    await expect(poll(family(), { status: 'FAIL', code, message: 'why' })).rejects.toMatchObject({ type });
  });

  test('a job that Tencent no longer has is RESULT_EXPIRED', async () => {
    const task = taskOf();
    await expect(family().poll({ task, signal: soon(), job: { id: 'job-9' } })).rejects.toMatchObject({
      type: 'RESULT_EXPIRED',
    });
  });

  test('a result without a GLB fails and names the other types', async () => {
    const files = [{ Type: 'OBJ', Url: 'https://x.example/' }];
    await expect(poll(family(), { status: 'DONE', files })).rejects.toMatchObject({
      type: 'PROVIDER_FAILED',
      message: 'Hunyuan3D failed: it made no GLB, only OBJ. Only GLB can be stored.',
    });
    await expect(poll(family(), { status: 'DONE', files: [] })).rejects.toMatchObject({
      message: 'Hunyuan3D failed: it made no file. Only GLB can be stored.',
    });
  });

  test('the GLB is downloaded without the key until its URL expires', async () => {
    const opened = family();
    const polled = await poll(opened);
    if (polled.state !== 'succeeded') throw new Error('it is not done');
    const download = () => downloaded(opened, taskOf(), polled.output);
    expect(await download()).toEqual(await mediaOf('hunyuan3d-3.1', 'job-1'));
    expect(double.requests.at(-1)?.headers.authorization).toBeUndefined();
    double.now = () => Date.now() + 25 * 3_600_000;
    await expect(download()).rejects.toMatchObject({ type: 'RESULT_EXPIRED' });
  });

  test('a probe submits nothing', async () => {
    expect(await family().probe?.(soon())).toMatch(/^127\.0\.0\.1:\d+ accepts the key$/);
    expect(double.orders).toEqual([]);
  });
});

test('a probe fails for a wrong key and for an unreachable host', async () => {
  await expect(open(cloud({ secretId: 'AKIDother' })).probe?.(soon())).rejects.toMatchObject({ type: 'AUTH' });
  await expect(open(hub({ apiKey: 'hub-other' })).probe?.(soon())).rejects.toMatchObject({ type: 'AUTH' });
  for (const code of ['FailedOperation.ServiceNotActivated', 'FailedOperation.ServiceStop']) {
    double.before = () => complaint(code);
    await expect(open(cloud()).probe?.(soon())).rejects.toMatchObject({ type: 'AUTH' });
  }
  double.before = () => complaint('FailedOperation.ServiceStopArrears');
  await expect(open(cloud()).probe?.(soon())).rejects.toMatchObject({ type: 'BALANCE' });
  double.before = () => complaint('SomethingNew');
  await expect(open(cloud()).probe?.(soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
  double.before = () => ({ status: 503, body: '' });
  await expect(open(cloud()).probe?.(soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
});

testKeyedAccount(
  hunyuan3d,
  { key: 'TOKENHUB_API_KEY', address: 'TOKENHUB_BASE_URL' },
  'https://tokenhub.tencentmaas.com',
);
testErrorCodes('Tencent Cloud', ERROR_CODES, ERROR_CLASSES, meaningOf);
