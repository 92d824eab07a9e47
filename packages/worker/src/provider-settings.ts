import { existsSync } from 'node:fs';
import { FAMILIES, type Family, findModel } from '@review/contract';
import { z } from 'zod';

/** The account that the settings configure for a family. */
export type Account<Settings> =
  | ({ state: 'live' } & Settings)
  | { state: 'sandbox' }
  /** The settings are incomplete. The sandbox does not replace the provider. */
  | { state: 'misconfigured'; reason: string };

export interface KeyedAccount {
  apiKey: string;
  baseUrl: string;
}

export interface DocumentAccount extends KeyedAccount {
  model: string;
  /** Font files, or folders of them, in addition to the shipped fonts. */
  fonts: readonly string[];
}

export interface OpenAiAccount extends KeyedAccount {
  organization: string | null;
  project: string | null;
}

export interface FalAccount {
  apiKey: string;
  queueUrl: string;
}

export interface MinimaxAccount extends KeyedAccount {
  /** Used for the settings that MiniMax's own API does not offer. */
  fal: FalAccount | null;
}

export interface TencentCloudAccount {
  transport: 'tencent-cloud';
  secretId: string;
  secretKey: string;
  endpoint: string;
  version: string;
  region: string;
  /** Whether requests to the endpoint take a model name. */
  takesModel: boolean;
}

export interface TokenHubAccount extends KeyedAccount {
  transport: 'token-hub';
}

export interface ProviderSettings {
  accounts: {
    document: Account<DocumentAccount>;
    'gpt-image': Account<OpenAiAccount>;
    'gemini-image': Account<KeyedAccount>;
    seedance: Account<KeyedAccount>;
    kling: Account<KeyedAccount>;
    minimax: Account<MinimaxAccount>;
    veo: Account<KeyedAccount>;
    meshy: Account<KeyedAccount>;
    hunyuan3d: Account<TencentCloudAccount | TokenHubAccount>;
  };
  /** Provider model names that override the built-in ones, by model id. */
  modelMap: Readonly<Record<string, string>>;
  /** Whether a submit without an answer is repeated once; unset, the output type decides. */
  onUnknownSubmit: Readonly<Partial<Record<Family, 'fail' | 'resubmit'>>>;
}

/** The settings that switch a family from the sandbox to its provider. */
export const KEY_SETTINGS: Record<Family, string> = {
  document: 'DOCUMENT_LLM_API_KEY and DOCUMENT_LLM_MODEL',
  'gpt-image': 'OPENAI_API_KEY',
  'gemini-image': 'GEMINI_API_KEY',
  seedance: 'ARK_API_KEY',
  kling: 'KLING_API_KEY',
  minimax: 'MINIMAX_API_KEY',
  veo: 'GEMINI_API_KEY',
  meshy: 'MESHY_API_KEY',
  hunyuan3d: 'TENCENTCLOUD_SECRET_ID and TENCENTCLOUD_SECRET_KEY, or TOKENHUB_API_KEY',
};

/** Returns the parsed value of a setting. An invalid value is recorded as a fault, and the fallback is returned. */
type Setting = <T>(name: string, schema: z.ZodType<T>, fallback: string) => T;

/** Reads the settings of every provider: `value` returns the raw text, `setting` validates it. */
export function readProviderSettings(value: (name: string) => string | undefined, setting: Setting): ProviderSettings {
  const keyed = (key: string, url: string, fallback: string): Account<KeyedAccount> => {
    const apiKey = value(key);
    return apiKey === undefined ? { state: 'sandbox' } : { state: 'live', apiKey, baseUrl: address(url, fallback) };
  };
  const address = (name: string, fallback: string) => setting(name, baseUrl, fallback);
  const google = keyed('GEMINI_API_KEY', 'GEMINI_BASE_URL', 'https://generativelanguage.googleapis.com');

  function document(): Account<DocumentAccount> {
    const [apiKey, model] = [value('DOCUMENT_LLM_API_KEY'), value('DOCUMENT_LLM_MODEL')];
    if (apiKey === undefined && model === undefined) return { state: 'sandbox' };
    if (apiKey === undefined) return misconfigured('DOCUMENT_LLM_MODEL is set, DOCUMENT_LLM_API_KEY is not.');
    if (model === undefined) return misconfigured('DOCUMENT_LLM_API_KEY is set, DOCUMENT_LLM_MODEL is not.');
    const fonts = ['PDF_FONT_CJK', 'PDF_FONT_DIR'].flatMap((name) => setting(name, fontPlace, '') || []);
    return { state: 'live', apiKey, model, fonts, baseUrl: address('DOCUMENT_LLM_BASE_URL', OPENAI) };
  }

  function openai(): Account<OpenAiAccount> {
    const account = keyed('OPENAI_API_KEY', 'OPENAI_BASE_URL', OPENAI);
    if (account.state !== 'live') return account;
    return { ...account, organization: value('OPENAI_ORG_ID') ?? null, project: value('OPENAI_PROJECT_ID') ?? null };
  }

  function minimax(): Account<MinimaxAccount> {
    const account = keyed('MINIMAX_API_KEY', 'MINIMAX_BASE_URL', 'https://api.minimax.io');
    const falKey = value('FAL_KEY');
    if (account.state !== 'live') {
      return falKey === undefined
        ? { state: 'sandbox' }
        : misconfigured('FAL_KEY only adds to MINIMAX_API_KEY, which is not set.');
    }
    const fal = falKey === undefined ? null : { apiKey: falKey, queueUrl: address('FAL_QUEUE_URL', FAL) };
    return { ...account, fal };
  }

  function hunyuan(): ProviderSettings['accounts']['hunyuan3d'] {
    const [secretId, secretKey] = [value('TENCENTCLOUD_SECRET_ID'), value('TENCENTCLOUD_SECRET_KEY')];
    if (secretId === undefined && secretKey === undefined) {
      const hub = keyed('TOKENHUB_API_KEY', 'TOKENHUB_BASE_URL', 'https://tokenhub.tencentmaas.com');
      return hub.state === 'live' ? { ...hub, transport: 'token-hub' } : { state: 'sandbox' };
    }
    if (secretId === undefined) return misconfigured('TENCENTCLOUD_SECRET_KEY is set, TENCENTCLOUD_SECRET_ID is not.');
    if (secretKey === undefined) return misconfigured('TENCENTCLOUD_SECRET_ID is set, TENCENTCLOUD_SECRET_KEY is not.');
    const endpoint = address('HUNYUAN_ENDPOINT', 'https://hunyuan.intl.tencentcloudapi.com');
    // Tencent sells the same models as the product ai3d, in China and abroad, and as a part of Hunyuan.
    const [isProduct, isInChina] = [endpoint.includes('//ai3d.'), endpoint.includes('//ai3d.tencentcloudapi.com')];
    return {
      state: 'live',
      transport: 'tencent-cloud',
      secretId,
      secretKey,
      endpoint,
      version: setting('HUNYUAN_VERSION', day, isProduct ? '2025-05-13' : '2023-09-01'),
      region: setting('HUNYUAN_REGION', region, isInChina ? 'ap-guangzhou' : 'ap-singapore'),
      takesModel: !isProduct || isInChina,
    };
  }

  return {
    accounts: {
      document: document(),
      'gpt-image': openai(),
      'gemini-image': google,
      seedance: keyed('ARK_API_KEY', 'ARK_BASE_URL', 'https://ark.ap-southeast.bytepluses.com/api/v3'),
      kling: keyed('KLING_API_KEY', 'KLING_BASE_URL', 'https://api-singapore.klingai.com'),
      minimax: minimax(),
      veo: google,
      meshy: keyed('MESHY_API_KEY', 'MESHY_BASE_URL', 'https://api.meshy.ai'),
      hunyuan3d: hunyuan(),
    },
    modelMap: setting('PROVIDER_MODEL_MAP', modelMap, '{}'),
    onUnknownSubmit: setting('ON_UNKNOWN_SUBMIT', perFamily, ''),
  };
}

const OPENAI = 'https://api.openai.com/v1';
const FAL = 'https://queue.fal.run';

const fontPlace = z
  .string()
  .refine(
    (path) => path === '' || existsSync(path),
    'no such file or folder; write the path of a font file or a folder of fonts',
  );

const misconfigured = (reason: string) => ({ state: 'misconfigured', reason }) as const;

const isLoopback = (hostname: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

/** Whether the address is a loopback address. Only there may a key be sent without TLS. */
export const isOnThisHost = (address: string): boolean => isLoopback(URL.parse(address)?.hostname ?? '');

const baseUrl = z
  .url({ protocol: /^https?$/, error: 'write an address such as https://api.example.com' })
  .refine((address) => address.startsWith('https:') || isOnThisHost(address), 'write an address with https')
  .transform((address) => address.replace(/\/+$/, ''));

const day = z.string().regex(/^\d{4}-\d\d-\d\d$/, 'write a version such as 2023-09-01');
const region = z.string().regex(/^[a-z0-9-]{1,40}$/, 'write a region such as ap-singapore');

const modelMap = z.string().transform((text, context): Record<string, string> => {
  const parsed = z.record(z.string(), z.string().min(1)).safeParse(parseJson(text));
  if (parsed.success) {
    const unknown = Object.keys(parsed.data).find((id) => findModel(id) === undefined);
    if (unknown === undefined) return parsed.data;
    context.addIssue(`unknown model ${unknown}; use the ids that List Models returns`);
  } else context.addIssue('write a JSON object such as {"seedance-2.5": "dreamina-seedance-2-5-260628"}');
  return z.NEVER;
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const ChoiceOfFamily = z.tuple([z.enum(FAMILIES), z.enum(['fail', 'resubmit'])]);

const perFamily = z.string().transform((text, context): ProviderSettings['onUnknownSubmit'] => {
  const pairs = text.split(',').flatMap((pair) => (pair.trim() === '' ? [] : [pair.trim().split('=')]));
  const parsed = z.array(ChoiceOfFamily).safeParse(pairs);
  if (parsed.success) return Object.fromEntries(parsed.data);
  context.addIssue('write pairs such as seedance=resubmit,gpt-image=fail');
  return z.NEVER;
});
