import { FAMILIES } from '@review/contract';
import { expect, test } from 'vitest';
import { startHunyuan } from './families/test/hunyuan3d.ts';
import { startMeshy } from './families/test/meshy.ts';
import { freePort } from './test/stand-in.ts';
import { startWorker } from './test/worker-process.ts';

/** The built worker, without a server and without a token. */
async function check(settings: Record<string, string>, ...words: string[]) {
  await using worker = startWorker(settings, ['check', ...words]);
  return await worker.finished;
}

test('a key that works says so, and what it found', async () => {
  await using meshy = await startMeshy();
  expect(await check({ MESHY_API_KEY: meshy.key, MESHY_BASE_URL: meshy.url }, 'meshy')).toEqual({
    code: 0,
    output: 'meshy: works; 1000 credits.\n',
    errors: '',
  });
  expect(meshy.orders).toEqual([]);
});

test('Tencent’s keys work by their library', async () => {
  await using hunyuan = await startHunyuan();
  const keys = { TENCENTCLOUD_SECRET_ID: hunyuan.secretId, TENCENTCLOUD_SECRET_KEY: 'secret' };
  const { code, output, errors } = await check({ ...keys, HUNYUAN_ENDPOINT: hunyuan.url }, 'hunyuan3d');
  expect([code, errors]).toEqual([0, '']);
  expect(output).toMatch(/^hunyuan3d: works; 127\.0\.0\.1:\d+ accepts the access\.\n$/);
});

test('a key that is refused ends with 1 and the provider’s reason, without the key', async () => {
  await using meshy = await startMeshy();
  const refused = { MESHY_API_KEY: 'msy_wrong_key_9', MESHY_BASE_URL: meshy.url };
  expect(await check(refused, 'meshy')).toEqual({
    code: 1,
    output: 'meshy: the account is refused: Invalid API key\n',
    errors: '',
  });
});

test('a provider that does not answer ends with 1', async () => {
  const nowhere = { MESHY_API_KEY: 'k', MESHY_BASE_URL: `http://127.0.0.1:${await freePort()}` };
  expect(await check(nowhere, 'meshy')).toMatchObject({ code: 1, output: 'meshy: Meshy is not available.\n' });
});

test.each([
  ['meshy', {}, /no key is set; set MESHY_API_KEY\. The sandbox/],
  ['hunyuan3d', { TENCENTCLOUD_SECRET_ID: 'i' }, /misconfigured: .*TENCENTCLOUD_SECRET_KEY is not/],
  ['sora', {}, new RegExp(`no family "sora"; there are: ${FAMILIES.join(', ')}\\.`)],
  ['', {}, /there are: document/],
])('"%s" with %o ends with 1 and says what to do', async (family, settings, message) => {
  const { code, output, errors } = await check(settings, family);
  expect([code, errors]).toEqual([1, '']);
  expect(output).toMatch(message);
  expect(output.trimEnd()).not.toContain('\n');
});

test('settings that are wrong are named, and so is a command that there is not', async () => {
  const wrong = await check({ MESHY_API_KEY: 'k', MESHY_BASE_URL: 'nowhere' }, 'meshy');
  expect(wrong).toMatchObject({ code: 1, errors: expect.stringContaining('MESHY_BASE_URL: ') });
  await using worker = startWorker({}, ['chekc', 'meshy']);
  expect(await worker.finished).toMatchObject({ code: 1, errors: expect.stringContaining('check <family>') });
});
