import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { FAMILIES } from '@review/contract';
import { ConfigError } from '@review/contract/settings';
import { describe, expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { VENDORS } from './families/test/doubles.ts';
import { isOnThisHost } from './provider-settings.ts';

const read = (environment: Record<string, string>) =>
  readConfig({ WORKER_TOKEN: 'shared', ...environment }, { name: 'box', pid: 7 }).providers;

function fault(environment: Record<string, string>): string {
  try {
    read(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'no fault';
}

const TENCENT = { TENCENTCLOUD_SECRET_ID: 'AKID', TENCENTCLOUD_SECRET_KEY: 'secret' };

test('without a key every family uses the sandbox, regardless of other settings', () => {
  const { accounts } = read({ MESHY_BASE_URL: 'https://meshy.example.com', HUNYUAN_REGION: 'ap-singapore' });
  expect(Object.keys(accounts)).toEqual([...FAMILIES]);
  expect(new Set(Object.values(accounts).map(({ state }) => state))).toEqual(new Set(['sandbox']));
});

test.each(VENDORS)(
  'a key makes the families of its provider live, and no other: $families',
  ({ families, settings }) => {
    // fal only adds to MiniMax.
    const { accounts } = read({ MINIMAX_API_KEY: 'k', ...settings('https://vendor.example') });
    for (const name of FAMILIES.filter((other) => other !== 'minimax')) {
      expect(accounts[name].state, name).toBe(families.includes(name) ? 'live' : 'sandbox');
    }
    expect(accounts.minimax.state).toBe('live');
  },
);

describe('an account', () => {
  test('of gpt-image names an organization and a project where they are set', () => {
    const bare = read({ OPENAI_API_KEY: 'k' }).accounts['gpt-image'];
    expect(bare).toMatchObject({ organization: null, project: null });
    const named = read({ OPENAI_API_KEY: 'k', OPENAI_ORG_ID: 'org', OPENAI_PROJECT_ID: 'proj' }).accounts['gpt-image'];
    expect(named).toMatchObject({ organization: 'org', project: 'proj' });
  });

  test('of document takes its model and address', () => {
    const given = {
      DOCUMENT_LLM_API_KEY: 'k',
      DOCUMENT_LLM_MODEL: 'm',
      DOCUMENT_LLM_BASE_URL: 'http://localhost:11434/v1',
    };
    expect(read(given).accounts.document).toEqual({
      state: 'live',
      apiKey: 'k',
      model: 'm',
      fonts: [],
      baseUrl: 'http://localhost:11434/v1',
    });
  });

  test('of minimax adds the account at fal to its own', () => {
    expect(read({ MINIMAX_API_KEY: 'k' }).accounts.minimax).toMatchObject({ fal: null });
    expect(read({ MINIMAX_API_KEY: 'k', FAL_KEY: 'f' }).accounts.minimax).toMatchObject({
      fal: { apiKey: 'f', queueUrl: 'https://queue.fal.run' },
    });
    const elsewhere = { MINIMAX_API_KEY: 'k', FAL_KEY: 'f', FAL_QUEUE_URL: 'https://fal.example.com/' };
    expect(read(elsewhere).accounts.minimax).toMatchObject({ fal: { queueUrl: 'https://fal.example.com' } });
  });

  test.each([
    [{}, 'https://hunyuan.intl.tencentcloudapi.com', '2023-09-01', 'ap-singapore', true],
    [
      { HUNYUAN_ENDPOINT: 'https://ai3d.tencentcloudapi.com' },
      'https://ai3d.tencentcloudapi.com',
      '2025-05-13',
      'ap-guangzhou',
      true,
    ],
    [
      { HUNYUAN_ENDPOINT: 'https://ai3d.intl.tencentcloudapi.com' },
      'https://ai3d.intl.tencentcloudapi.com',
      '2025-05-13',
      'ap-singapore',
      false,
    ],
    [
      { HUNYUAN_VERSION: '2026-01-01', HUNYUAN_REGION: 'na-siliconvalley' },
      'https://hunyuan.intl.tencentcloudapi.com',
      '2026-01-01',
      'na-siliconvalley',
      true,
    ],
  ])('of hunyuan3d at Tencent Cloud, with %o', (more, endpoint, version, region, takesModel) => {
    expect(read({ ...TENCENT, TOKENHUB_API_KEY: 'k', ...more }).accounts.hunyuan3d).toEqual({
      state: 'live',
      transport: 'tencent-cloud',
      secretId: 'AKID',
      secretKey: 'secret',
      endpoint,
      version,
      region,
      takesModel,
    });
  });
});

test.each([
  ['document', { DOCUMENT_LLM_API_KEY: 'k' }, 'DOCUMENT_LLM_MODEL is not'],
  ['document', { DOCUMENT_LLM_MODEL: 'm' }, 'DOCUMENT_LLM_API_KEY is not'],
  ['minimax', { FAL_KEY: 'f' }, 'MINIMAX_API_KEY, which is not set'],
  ['hunyuan3d', { TENCENTCLOUD_SECRET_ID: 'i' }, 'TENCENTCLOUD_SECRET_KEY is not'],
  ['hunyuan3d', { TENCENTCLOUD_SECRET_KEY: 's', TOKENHUB_API_KEY: 'k' }, 'TENCENTCLOUD_SECRET_ID is not'],
] as const)(
  'incomplete settings of %s are misconfigured, and the reason names what is missing',
  (family, environment, reason) => {
    expect(read(environment).accounts[family]).toEqual({
      state: 'misconfigured',
      reason: expect.stringContaining(reason),
    });
  },
);

test.each([
  ['MESHY_BASE_URL', 'http://api.meshy.ai', /https/],
  ['MESHY_BASE_URL', 'http://127.0.0.1.example.com', /https/],
  ['MESHY_BASE_URL', 'http://10.0.0.1', /https/],
  ['MESHY_BASE_URL', 'ftp://127.0.0.1', /https:\/\/api\.example\.com/],
  ['MESHY_BASE_URL', 'api.meshy.ai', /https:\/\/api\.example\.com/],
  ['PROVIDER_MODEL_MAP', '{"meshy-7":', /JSON object/],
  ['PROVIDER_MODEL_MAP', '["meshy-7"]', /JSON object/],
  ['PROVIDER_MODEL_MAP', '{"meshy-7": 7}', /JSON object/],
  ['PROVIDER_MODEL_MAP', '{"meshy-7": ""}', /JSON object/],
  ['PROVIDER_MODEL_MAP', '{"meshy-6": "x"}', /unknown model meshy-6/],
  ['ON_UNKNOWN_SUBMIT', 'meshy', /seedance=resubmit/],
  ['ON_UNKNOWN_SUBMIT', 'meshy=maybe', /seedance=resubmit/],
  ['ON_UNKNOWN_SUBMIT', 'sora=fail', /seedance=resubmit/],
  ['HUNYUAN_VERSION', 'latest', /2023-09-01/],
  ['HUNYUAN_REGION', 'Singapore!', /ap-singapore/],
])('%s=%s is refused with what to write', (name, value, remedy) => {
  const message = fault({ MESHY_API_KEY: 'k', ...TENCENT, [name]: value });
  expect(message).toContain(`${name}: `);
  expect(message).toMatch(remedy);
});

test.each(['http://127.0.0.1:9', 'http://127.9.9.9/x', 'http://localhost:1', 'http://[::1]:1', 'https://a.example'])(
  'a key may go to %s',
  (address) => {
    expect(fault({ MESHY_API_KEY: 'k', MESHY_BASE_URL: address })).toBe('no fault');
    expect(isOnThisHost(address)).toBe(address !== 'https://a.example');
  },
);

test('PROVIDER_MODEL_MAP and ON_UNKNOWN_SUBMIT override the defaults', () => {
  const given = { PROVIDER_MODEL_MAP: '{"meshy-7": "meshy-7.1"}', ON_UNKNOWN_SUBMIT: ' meshy=resubmit, veo=fail,' };
  expect(read(given)).toMatchObject({
    modelMap: { 'meshy-7': 'meshy-7.1' },
    onUnknownSubmit: { meshy: 'resubmit', veo: 'fail' },
  });
});

test('a fault in a setting of two families is reported once', () => {
  const message = fault({ GEMINI_API_KEY: 'k', GEMINI_BASE_URL: 'nowhere' });
  expect(message.match(/GEMINI_BASE_URL: /g)).toHaveLength(1);
});

test('no fault contains a key', () => {
  const message = fault({ MESHY_API_KEY: 'msy_very_secret', MESHY_BASE_URL: 'http://x:msy_very_secret@nowhere' });
  expect(message).toContain('MESHY_BASE_URL');
  expect(message).not.toContain('msy_very_secret');
});

test('every setting of the worker is in the documentation', async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');
  const adapters = globSync('families/*.ts', { cwd: import.meta.dirname });
  const source = (await Promise.all(['config.ts', ...adapters].map((path) => read(`./${path}`)))).join('\n');
  // The names that are passed to the functions that read a setting.
  const reads = source.matchAll(/\b(?:value|setting|address|keyed)\(\s*'([A-Z_]+)'(?:,\s*'([A-Z_]+)')?/g);
  const names = new Set(Array.from(reads, ([, ...found]) => found.filter(Boolean)).flat());
  expect(names.size).toBeGreaterThan(35);
  const listed = await read('../../../docs/self-hosting.md');
  expect([...names].filter((name) => !listed.includes(`\`${name}\``))).toEqual([]);
});
