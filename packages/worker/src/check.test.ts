import { FAMILIES, type Family } from '@review/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REFUSING_ADDRESS } from '../../../scripts/free-port.ts';
import { checkFamily } from './check.ts';
import { readProviders } from './config.ts';
import { startDoubles, VENDORS } from './families/test/doubles.ts';
import { startMeshy } from './families/test/meshy.ts';
import { startWorker } from './test/worker-process.ts';

const check = (settings: Record<string, string>, family: string) => checkFamily(family, () => readProviders(settings));

/** The built worker, without a server and without a token. */
async function checkInProcess(settings: Record<string, string>, family: string) {
  await using worker = startWorker(settings, ['check', family]);
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
    const { works, line } = await check(settings, family);
    expect([works, line.replace(/:\d+/, '')]).toEqual([true, `${family}: works; ${checks[family]}.`]);
    expect(doubles.flatMap(({ double }) => double.orders)).toEqual([]);
  });

  test.each([
    ['document', 'writer-9', { DOCUMENT_LLM_MODEL: 'writer-9' }],
    ['gpt-image', 'gpt-image-9', { PROVIDER_MODEL_MAP: '{"gpt-image-2": "gpt-image-9"}' }],
    ['veo', 'veo-9', { PROVIDER_MODEL_MAP: '{"veo-3.1-generate-preview": "veo-9"}' }],
  ])('%s does not work if the account lacks %s', async (family, model, other) => {
    expect(await check({ ...settings, ...other }, family)).toEqual({
      works: false,
      line: `${family}: the account is refused: it does not list ${model}`,
    });
  });

  test('the command exits with 0 and prints one line', async () => {
    const { code, output, errors } = await checkInProcess(settings, 'meshy');
    expect([code, output, errors]).toEqual([0, `meshy: works; ${checks.meshy}.\n`, '']);
  });
});

test('a refused key exits with 1 and the provider’s reason, without the key', async () => {
  await using meshy = await startMeshy();
  const refused = { MESHY_API_KEY: 'msy_wrong_key_9', MESHY_BASE_URL: meshy.url };
  expect(await checkInProcess(refused, 'meshy')).toEqual({
    code: 1,
    output: 'meshy: the account is refused: Invalid API key\n',
    errors: '',
  });
});

test('an unreachable provider does not work', async () => {
  const nowhere = { MESHY_API_KEY: 'k', MESHY_BASE_URL: REFUSING_ADDRESS };
  expect(await check(nowhere, 'meshy')).toEqual({ works: false, line: 'meshy: Meshy is not available.' });
});

test.each([
  ['meshy', {}, /no key is set, so the sandbox is used\. Set MESHY_API_KEY/],
  ['hunyuan3d', { TENCENTCLOUD_SECRET_ID: 'i' }, /misconfigured: .*TENCENTCLOUD_SECRET_KEY is not/],
  ['sora', {}, new RegExp(`family "sora". Use one of: ${FAMILIES.join(', ')}\\.`)],
  ['', {}, /Use one of: document/],
])('"%s" with %o does not work and says what to do', async (family, settings, message) => {
  const { works, line } = await check(settings, family);
  expect(works).toBe(false);
  expect(line).toMatch(message);
  expect(line).not.toContain('\n');
});

test('invalid settings and unknown commands are named', async () => {
  const wrong = await checkInProcess({ MESHY_API_KEY: 'k', MESHY_BASE_URL: 'nowhere' }, 'meshy');
  expect(wrong).toMatchObject({ code: 1, errors: expect.stringContaining('MESHY_BASE_URL: ') });
  await using worker = startWorker({}, ['chekc', 'meshy']);
  expect(await worker.finished).toMatchObject({ code: 1, errors: expect.stringContaining('check <family>') });
});
