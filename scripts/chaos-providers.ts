import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../e2e/service.ts';
import { type FileRecord, MODELS, type Model } from '../packages/contract/dist/index.js';
import { startDoubles } from '../packages/worker/src/families/test/doubles.ts';
import { startVendor, type Vendor } from '../packages/worker/src/test/vendor.ts';

/** Whoever the workers take for their providers. */
export interface Providers extends AsyncDisposable {
  /** For server and workers. */
  settings: Record<string, string>;
  models: readonly Model[];
  /** Every order that was taken; those of one name are for the same file and stage. */
  orders(): { name: string; outputType: Model['outputType'] }[];
  /** Whether a provider has a job for the file that runs or has succeeded: no job fails here. */
  hasJob(file: FileRecord): boolean;
  /** Whether a provider made that for the file. */
  made(file: FileRecord, hash: string): Promise<boolean>;
}

/** Documents and images are answered at once: there is no job to ask for. */
export const isJob = (outputType: string): boolean => outputType === 'VIDEO' || outputType === '3D';

/** One vendor in the place of all, in a language of its own. */
export async function openVendor(random: () => number): Promise<Providers> {
  const vendor = await startVendor(3000);
  // Most of the time a vendor only takes its time.
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

/** Each vendor by its double, in the vendor's own language. */
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
    // The doubles know prompts, not files.
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
