import type { WorkerTask } from '@review/contract';
import type OpenAI from 'openai';
import { z } from 'zod';
import type { KeyedAccount } from '../provider-settings.ts';
import { StepError, type StepErrorType } from '../step-error.ts';
import { describeModels } from './account-models.ts';
import { fields, number, text } from './answer-fields.ts';
import { loadOnce } from './load-once.ts';
import { type Refusal, retryAfter, toStepError, type Vendor, wasSent } from './refusal.ts';
import { vendorFetch } from './vendor-fetch.ts';

export interface OpenAiAccount extends KeyedAccount {
  organization: string | null;
  project: string | null;
}

export const OPENAI_URL = 'https://api.openai.com/v1';

/** Enough for the largest picture in base64. */
const MAX_BYTES = 128 * 1024 * 1024;
/** Longer than any step: the step's signal aborts the call first. */
const TIMEOUT_MS = 3_600_000;
/** The headers that are sent. The library adds others from the environment and about the host, which are dropped. */
const SENT_HEADERS = ['accept', 'authorization', 'content-type', 'openai-organization', 'openai-project', 'user-agent'];

/** Returns a lazy client: loading OpenAI's library takes time and 30 MB of memory. */
export function openAiClient(account: KeyedAccount & Partial<OpenAiAccount>): () => Promise<OpenAI> {
  const { apiKey, baseUrl, organization = null, project = null } = account;
  return loadOnce(async () => {
    const { default: Client } = await import('openai');
    return new Client({
      apiKey,
      baseURL: baseUrl,
      organization,
      project,
      adminAPIKey: null,
      webhookSecret: null,
      defaultHeaders: { authorization: `Bearer ${apiKey}` },
      // A retry by the library could be billed twice without a record.
      maxRetries: 0,
      timeout: TIMEOUT_MS,
      logLevel: 'off',
      fetch: vendorFetch(MAX_BYTES, keepSentHeaders),
    });
  });
}

const keepSentHeaders = (headers: Headers) =>
  new Headers([...headers].filter(([name]) => SENT_HEADERS.includes(name.toLowerCase())));

/** The answer ended without the result. */
export class UnreadableAnswer extends Error {}

/** Makes one call by the library and maps its errors to step errors. */
export async function callOpenAi<T>(
  vendor: Vendor,
  { task, paid }: { task?: WorkerTask; paid: boolean },
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof StepError) throw error;
    const refusal = refusalOf(error);
    const type = refusal.type === 'AMBIGUOUS_SUBMIT' && !paid ? 'TRANSIENT' : refusal.type;
    throw toStepError(vendor, { ...refusal, type }, task);
  }
}

const BY_CODE: Partial<Record<string, StepErrorType>> = {
  moderation_blocked: 'CONTENT_POLICY',
  content_policy_violation: 'CONTENT_POLICY',
  content_filter: 'CONTENT_POLICY',
  insufficient_quota: 'BALANCE',
  billing_hard_limit_reached: 'BALANCE',
  billing_not_active: 'BALANCE',
  account_deactivated: 'AUTH',
  invalid_api_key: 'AUTH',
  invalid_organization: 'AUTH',
  model_not_found: 'AUTH',
  unsupported_country_region_territory: 'AUTH',
  rate_limit_exceeded: 'RATE_LIMITED',
  context_length_exceeded: 'INVALID_INPUT',
  empty_image_file: 'INVALID_INPUT',
  image_too_large: 'INVALID_INPUT',
  invalid_base64_image: 'INVALID_INPUT',
  invalid_image: 'INVALID_INPUT',
  invalid_image_file: 'INVALID_INPUT',
  invalid_image_format: 'INVALID_INPUT',
  invalid_prompt: 'INVALID_INPUT',
  invalid_value: 'INVALID_INPUT',
  missing_required_parameter: 'INVALID_INPUT',
  string_above_max_length: 'INVALID_INPUT',
  unknown_parameter: 'INVALID_INPUT',
  unsupported_parameter: 'INVALID_INPUT',
  unsupported_value: 'INVALID_INPUT',
  server_error: 'AMBIGUOUS_SUBMIT',
};

export const meaningOf = (code: string): StepErrorType | undefined => BY_CODE[code];

const BY_TYPE: Partial<Record<string, StepErrorType>> = {
  invalid_request_error: 'INVALID_INPUT',
  image_generation_user_error: 'INVALID_INPUT',
};

/** An error of the library. An error in the middle of a stream has no status. */
const Failure = z.object({
  status: number,
  code: text,
  type: text,
  headers: z.instanceof(Headers).optional().catch(undefined),
  error: fields({
    message: text,
    moderation_details: fields({ moderation_stage: text, categories: z.array(text).catch([]) }),
  }),
});

function refusalOf(error: unknown): Refusal {
  if (error instanceof UnreadableAnswer) return { type: 'AMBIGUOUS_SUBMIT', words: error.message };
  const { status, code, type, headers, error: said } = Failure.catch({}).parse(error);
  const known = meaningOf(code ?? '') ?? (status === undefined ? BY_TYPE[type ?? ''] : byStatus(status));
  if (known === undefined) return { type: wasSent(error) ? 'AMBIGUOUS_SUBMIT' : 'TRANSIENT', words: said?.message };
  const { moderation_stage: stage, categories = [] } = said?.moderation_details ?? {};
  const details = [...(stage === undefined ? [] : [`at the ${stage}`]), ...categories].join(', ');
  const words = [said?.message, details && `(${details})`].filter(Boolean).join(' ');
  return {
    type: known,
    words: words || (status === undefined ? undefined : `status ${status}`),
    delayMs: headers && retryAfter(headers),
  };
}

/** Undefined if the status does not say whether the provider did the work. */
function byStatus(status: number): StepErrorType | undefined {
  if (status < 400 || status >= 500 || status === 408 || status === 409) return undefined;
  if ([401, 403, 404].includes(status)) return 'AUTH';
  if (status === 402) return 'BALANCE';
  return status === 429 ? 'RATE_LIMITED' : 'INVALID_INPUT';
}

const Listed = z.object({ data: z.array(z.object({ id: z.string() })) });

/** Checks that the account lists the wanted models. */
export function probeOpenAi(
  vendor: Vendor,
  client: () => Promise<OpenAI>,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  return callOpenAi(vendor, { paid: false }, async () => {
    const { models } = await client();
    const { data } = Listed.parse(await models.list({ signal }));
    return describeModels(vendor, wanted, new Set(data.map(({ id }) => id)));
  });
}
