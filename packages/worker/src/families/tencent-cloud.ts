import type { z } from 'zod';
import type { Call } from './family.ts';
import { asReadRefusal, type Refusal, saysItWasSent, toStepError, type Vendor } from './refusal.ts';
import { refusalByStatus } from './vendor-api.ts';

export interface TencentCloudAccount {
  secretId: string;
  secretKey: string;
  endpoint: string;
  version: string;
  region: string;
}

interface Action {
  name: string;
  body: object;
  /** Whether the provider bills the call. Without an answer it is AMBIGUOUS_SUBMIT, and is not simply retried. */
  paid?: boolean;
}

interface TencentCloud {
  act<T>(schema: z.ZodType<T>, action: Action, call: Pick<Call, 'signal'> & Partial<Pick<Call, 'task'>>): Promise<T>;
}

const TIMEOUT_SECONDS = 60;

/** Returns a client of Tencent Cloud, which signs requests with its own library. The library does not retry. */
export function openTencentCloud(
  { secretId, secretKey, endpoint, version, region }: TencentCloudAccount,
  vendor: Vendor,
  refusalOf: (code: string, words: string) => Refusal,
): TencentCloud {
  const { host, protocol } = new URL(endpoint);
  const config = {
    credential: { secretId, secretKey },
    region,
    profile: { httpProfile: { endpoint: host, protocol: `${protocol}//`, reqTimeout: TIMEOUT_SECONDS } },
  };

  return {
    async act(schema, { name, body, paid = false }, { task, signal }) {
      // Loaded on demand, because it brings its own HTTP client.
      const { CommonClient } = await import('tencentcloud-sdk-nodejs-common');
      const client = new CommonClient(host, version, config);
      const answer: unknown = await client.request(name, body, { signal }).catch((error: unknown) => {
        const refusal = refusalIn(error, refusalOf);
        if (!paid) throw toStepError(vendor, asReadRefusal(refusal), task);
        throw toStepError(vendor, refusal.type === 'TRANSIENT' ? unanswered(error) : refusal, task);
      });
      const parsed = schema.safeParse(answer);
      if (parsed.success) return parsed.data;
      throw toStepError(vendor, { type: paid ? 'AMBIGUOUS_SUBMIT' : 'TRANSIENT', words: INVALID_ANSWER }, task);
    },
  };
}

const INVALID_ANSWER = 'its answer is not valid.';

function refusalIn(error: unknown, refusalOf: (code: string, words: string) => Refusal): Refusal {
  if (!(error instanceof Error)) return { type: 'TRANSIENT' };
  if ('code' in error && typeof error.code === 'string') return refusalOf(error.code, error.message);
  if ('httpCode' in error && typeof error.httpCode === 'number') {
    return refusalByStatus({ status: error.httpCode }) ?? { type: 'TRANSIENT' };
  }
  return { type: 'TRANSIENT' };
}

const unanswered = (error: unknown): Refusal => ({
  type: saysItWasSent(String(error)) ? 'AMBIGUOUS_SUBMIT' : 'TRANSIENT',
});
