import { FAMILIES, type Family } from '@review/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDoubles, VENDORS } from './families/test/doubles.ts';
import { startMeshy } from './families/test/meshy.ts';
import { freePort } from './test/stand-in.ts';
import { startWorker } from './test/worker-process.ts';

/** The built worker, without a server and without a token. */
async function check(settings: Record<string, string>, ...words: string[]) {
  await using worker = startWorker(settings, ['check', ...words]);
  return await worker.finished;
}

describe('with every key', () => {
  let doubles: Awaited<ReturnType<typeof startDoubles>>;
  let settings: Record<string, string>;
  beforeAll(async () => {
    doubles = await startDoubles();
    settings = Object.assign({}, ...doubles.map((started) => started.settings));
  }, 60_000);
  afterAll(() => Promise.all(doubles.map(({ double }) => double[Symbol.asyncDispose]())));

  const checks: Partial<Record<Family, string>> = Object.assign({}, ...VENDORS.map(({ checks }) => checks));

  test.each(FAMILIES)('%s works, describes the account in one sentence, and submits nothing', async (family) => {
    const { code, output, errors } = await check(settings, family);
    expect([code, output.replace(/:\d+/, ''), errors]).toEqual([0, `${family}: works; ${checks[family]}.\n`, '']);
    expect(doubles.flatMap(({ double }) => double.orders)).toEqual([]);
  });

  test.each([
    ['document', 'writer-9', { DOCUMENT_LLM_MODEL: 'writer-9' }],
    ['gpt-image', 'gpt-image-9', { PROVIDER_MODEL_MAP: '{"gpt-image-2": "gpt-image-9"}' }],
    ['veo', 'veo-9', { PROVIDER_MODEL_MAP: '{"veo-3.1-generate-preview": "veo-9"}' }],
  ])('%s does not work if the account lacks %s', async (family, model, other) => {
    expect(await check({ ...settings, ...other }, family)).toEqual({
      code: 1,
      output: `${family}: the account is refused: it does not list ${model}\n`,
      errors: '',
    });
  });
});

test('a refused key exits with 1 and the provider’s reason, without the key', async () => {
  await using meshy = await startMeshy();
  const refused = { MESHY_API_KEY: 'msy_wrong_key_9', MESHY_BASE_URL: meshy.url };
  expect(await check(refused, 'meshy')).toEqual({
    code: 1,
    output: 'meshy: the account is refused: Invalid API key\n',
    errors: '',
  });
});

test('an unreachable provider exits with 1', async () => {
  const nowhere = { MESHY_API_KEY: 'k', MESHY_BASE_URL: `http://127.0.0.1:${await freePort()}` };
  expect(await check(nowhere, 'meshy')).toMatchObject({ code: 1, output: 'meshy: Meshy is not available.\n' });
});

test.each([
  ['meshy', {}, /no key is set, so the sandbox is used\. Set MESHY_API_KEY/],
  ['hunyuan3d', { TENCENTCLOUD_SECRET_ID: 'i' }, /misconfigured: .*TENCENTCLOUD_SECRET_KEY is not/],
  ['sora', {}, new RegExp(`family "sora". Use one of: ${FAMILIES.join(', ')}\\.`)],
  ['', {}, /Use one of: document/],
])('"%s" with %o exits with 1 and says what to do', async (family, settings, message) => {
  const { code, output, errors } = await check(settings, family);
  expect([code, errors]).toEqual([1, '']);
  expect(output).toMatch(message);
  expect(output.trimEnd()).not.toContain('\n');
});

test('invalid settings and unknown commands are named', async () => {
  const wrong = await check({ MESHY_API_KEY: 'k', MESHY_BASE_URL: 'nowhere' }, 'meshy');
  expect(wrong).toMatchObject({ code: 1, errors: expect.stringContaining('MESHY_BASE_URL: ') });
  await using worker = startWorker({}, ['chekc', 'meshy']);
  expect(await worker.finished).toMatchObject({ code: 1, errors: expect.stringContaining('check <family>') });
});
