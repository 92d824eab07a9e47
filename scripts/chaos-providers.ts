import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../e2e/service.ts';
import { type FileRecord, MODELS, type Model } from '../packages/contract/dist/index.js';
import { startDoubles } from '../packages/worker/src/families/test/doubles.ts';
import { startVendor, type Vendor } from '../packages/worker/src/test/vendor.ts';

/** The fake providers that the workers call. */
export interface Providers extends AsyncDisposable {
  /** Settings of server and workers. */
  settings: Record<string, string>;
  models: readonly Model[];
  /** Every accepted order; orders with the same name are for the same file and stage. */
  orders(): { name: string; outputType: Model['outputType'] }[];
  /** Whether a provider has a running or succeeded job for the file; jobs never fail here. */
  hasJob(file: FileRecord): boolean;
  /** Whether a provider produced content with this hash for the file. */
  made(file: FileRecord, hash: string): Promise<boolean>;
}

/** Documents and images are returned in the response, so there is no job to poll. */
export const isJob = (outputType: string): boolean => outputType === 'VIDEO' || outputType === '3D';

/** A single test vendor with its own protocol, in place of all vendors. */
export async function openVendor(random: () => number): Promise<Providers> {
  const vendor = await startVendor(3000);
  // Usually a call is only slow; 5 % fail.
  vendor.on = async ({ kind, moment, count }: Parameters<Vendor['on']>[0]) => {
    await sleep(random() * 100);
    if (kind === 'poll' && count <= 3) return 'running';
    if (moment === 'asked' && random() < 0.05) return kind === 'content' ? 'half' : 'unavailable';
    return undefined;
  };
  return {
    settings: { TEST_PROVIDER_URL: vendor.url },
    models: MODELS,
    orders: () =>
      vendor.orders.map(({ outputType, fileId, stage }) => ({
        name: `${fileId} ${stage}`,
        outputType: MODELS.find((model) => model.outputType === outputType)?.outputType ?? '3D',
      })),
    hasJob: ({ id }) => vendor.orders.some(({ fileId, outputType }) => fileId === id && isJob(outputType)),
    made: async ({ id }, hash) => vendor.hashOf(id).includes(hash),
    [Symbol.asyncDispose]: () => vendor[Symbol.asyncDispose](),
  };
}

/** A double per vendor, with the vendor's own protocol. */
export async function openDoubles(random: () => number): Promise<Providers> {
  const started = await startDoubles();
  const families = new Set<string>(started.flatMap((entry) => entry.families));
  const models = MODELS.filter(({ family }) => families.has(family));
  for (const { double } of started) {
    double.before = async () => {
      await sleep(random() * 100);
      return random() < 0.05 ? { status: 429, headers: { 'retry-after': '1' } } : undefined;
    };
    double.after = async () => void (await sleep(random() * 100));
  }
  return {
    settings: Object.assign({}, ...started.map(({ settings }) => settings)),
    models,
    orders: () =>
      started.flatMap(({ double, outputTypeOf }, index) =>
        double.orders.map((order) => ({
          name: `${index} ${order.prompt} ${order.stage}`,
          outputType: outputTypeOf(order),
        })),
      ),
    // Doubles receive the prompt but no file id.
    hasJob: ({ generation }) =>
      started.some(({ double, outputTypeOf }) =>
        double.orders.some(
          (order) => order.prompt === generation?.prompt && !order.canceled && isJob(outputTypeOf(order)),
        ),
      ),
    async made({ generation }, hash) {
      const media = started.flatMap(({ double, mediaFor }) =>
        double.orders
          .filter(({ prompt }) => prompt === generation?.prompt)
          .map((order) => mediaFor(order, generation?.outputModel ?? '')),
      );
      return (await Promise.all(media)).some((bytes) => bytes === null || sha256(bytes) === hash);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map(({ double }) => double[Symbol.asyncDispose]()));
    },
  };
}
