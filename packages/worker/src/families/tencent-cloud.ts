import type { z } from 'zod';
import type { TencentCloudAccount } from '../provider-settings.ts';
import type { Call } from './family.ts';
import { ofRead, type Refusal, refused, saysItWasSent, type Vendor } from './refusal.ts';
import { refusalByStatus } from './vendor-api.ts';

interface Action {
  name: string;
  body: object;
  /** Whether it orders something: without an answer it may have been paid, and must not simply be sent again. */
  paid?: boolean;
}

interface TencentCloud {
  act<T>(schema: z.ZodType<T>, action: Action, call: Pick<Call, 'signal'> & Partial<Pick<Call, 'task'>>): Promise<T>;
}

const TIMEOUT_SECONDS = 60;

/** Calls of Tencent Cloud, signed by its own library, which tries nothing twice. */
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
      // Only where it is needed: it brings an HTTP client of its own along.
      const { CommonClient } = await import('tencentcloud-sdk-nodejs-common');
      const client = new CommonClient(host, version, config);
      const answer: unknown = await client.request(name, body, { signal }).catch((error: unknown) => {
        const refusal = refusalIn(error, refusalOf);
        if (!paid) throw refused(vendor, ofRead(refusal), task);
        throw refused(vendor, refusal.type === 'TRANSIENT' ? unanswered(error) : refusal, task);
      });
      const parsed = schema.safeParse(answer);
      if (parsed.success) return parsed.data;
      throw refused(vendor, { type: paid ? 'AMBIGUOUS_SUBMIT' : 'TRANSIENT', words: NOT_UNDERSTOOD }, task);
    },
  };
}

const NOT_UNDERSTOOD = 'its answer cannot be understood.';

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
