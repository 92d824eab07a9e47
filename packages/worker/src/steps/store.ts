import { createHash, hash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { WorkerClient } from '@review/client/worker';
import { type GenerationTask, MAX_DIRECT_RESULT, type WorkerTask } from '@review/contract';
import { mapDiskErrors } from '../disk-errors.ts';
import { removeAudio } from '../families/audio.ts';
import type { Family, Output } from '../families/family.ts';
import { StepError } from '../step-error.ts';
import {
  familyOf,
  hasJobs,
  jobOf,
  mapServerError,
  openTask,
  readTask,
  requireOpen,
  type StepContext,
  warningsOf,
  withJob,
} from './context.ts';
import { putPart } from './put-part.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';

/** Downloads the result from the provider and uploads it to the storage. */
export async function store(context: StepContext, handed: GenerationTask): Promise<{ ended: boolean }> {
  const task = await openTask(context, handed, (known) => hasJobs(context, known));
  if (task.stored) return { ended: false };
  const family = familyOf(context, task);
  const stage = family.stages(task).at(-1) ?? 'submit';
  const job = jobOf(task, stage);
  if (job === null) throw new StepError('INTERNAL', 'The stage has no job whose result could be stored.');
  const transfer = async () => {
    const polled = await family.poll({ task, signal: context.signal, job });
    if (polled.state !== 'succeeded')
      throw new StepError('TRANSIENT', 'The provider reports the job as unfinished again.');
    const finish = { warnings: warningsOf(task) };
    return { ended: await storeOutput(context, handed, task, family, polled.output, { finish }) };
  };
  return await transfer().catch((error: unknown) => {
    // The URL of a result can expire before the job: some providers return a new one on the next poll.
    if (error instanceof StepError && error.type === 'RESULT_EXPIRED') return transfer();
    throw error;
  });
}

/** What the server does in the transaction that stores a small result. */
type Then = Pick<Parameters<WorkerClient['storeResult']>[0]['body'], 'submitted' | 'finish'>;

/**
 * Downloads the output to the work directory. Sends a small one in one call, and uploads others in presigned parts, as every
 * client does. Returns whether the server has done what `then` says.
 */
export async function storeOutput(
  context: StepContext,
  handed: GenerationTask,
  task: WorkerTask,
  family: Family,
  output: Output,
  then: Then,
): Promise<boolean> {
  const path = join(context.workDirectory, `${task.fileId}-${randomUUID()}`);
  try {
    // Storing is the last fifth of the progress.
    const report = progressReporter(context, handed, { from: 0.8, to: 1 });
    const download = () =>
      mapDiskErrors(async () => {
        await mkdir(context.workDirectory, { recursive: true });
        await family.download({ task, signal: context.signal, output, path, onProgress: report });
        if (task.configs?.generateAudio === false) await removeAudio(path, context.signal);
      });
    // The answer to a submit cannot be downloaded again.
    await (then.submitted ? retryWhileUnavailable(context.signal, download) : download());
    const { size } = await stat(path);
    if (size === 0) throw new StepError('PROVIDER_FAILED', 'The provider sent an empty result.');
    const isSmall = size <= MAX_DIRECT_RESULT;
    const isDone = await retryWhileUnavailable(context.signal, async (attempts) => {
      if (attempts > 0) {
        // An earlier attempt may have succeeded although its answer was lost.
        const now = await readTask(context, handed);
        if (now.status === 'SUCCEEDED') return true;
        if (requireOpen(now).stored) return false;
      }
      await (isSmall ? send(context, handed, path, then) : upload(context, handed, path, size));
      return isSmall;
    });
    const { submitted } = then;
    context.tasks.change(handed, ({ stages }) => ({
      stored: true,
      ...(isDone && submitted && { stages: withJob(stages, submitted.stage, submitted.job) }),
    }));
    return isDone;
  } finally {
    await rm(path, { force: true });
  }
}

/** The least time between two reports, and before the first: short work needs none. */
const PROGRESS_INTERVAL_MS = 250;

/** Returns a callback that reports progress between `from` and `to`. Calls soon after a report, or while one is pending, are dropped. */
export function progressReporter(
  { server }: StepContext,
  { fileId, epoch }: GenerationTask,
  { from, to }: { from: number; to: number },
) {
  let [sending, reportedAt] = [false, performance.now()];
  return (fraction: number) => {
    if (sending || performance.now() - reportedAt < PROGRESS_INTERVAL_MS) return;
    [sending, reportedAt] = [true, performance.now()];
    const progress = from + (to - from) * Math.min(1, Math.max(0, fraction));
    // A lost report does no harm: others follow.
    server
      .progress({ params: { id: fileId }, body: { epoch, progress } })
      .catch(() => {})
      .finally(() => {
        sending = false;
      });
  };
}

async function send(
  { server, steps: log, signal }: StepContext,
  { fileId, epoch }: GenerationTask,
  path: string,
  then: Then,
): Promise<void> {
  const bytes = await readFile(path, { signal });
  const result = { epoch, content: bytes.toString('base64'), sha256: hash('sha256', bytes), ...then };
  await log
    .complete((steps) => mapServerError(server.storeResult({ params: { id: fileId }, body: { ...result, steps } })))
    .catch(toProviderFailure);
}

async function upload(
  { server, steps: log, signal }: StepContext,
  { fileId, epoch }: GenerationTask,
  path: string,
  size: number,
): Promise<void> {
  const at = { params: { id: fileId } };
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest, { signal });
  const { data } = await mapServerError(server.startUpload({ ...at, body: { epoch, size } }));
  const parts = [];
  let start = 0;
  for (const part of data.parts) {
    parts.push({ partNumber: part.partNumber, eTag: await putPart(path, start, part, signal) });
    start += part.size;
  }
  const body = { epoch, parts, sha256: digest.digest('hex') };
  await log
    .send((steps) => mapServerError(server.completeUpload({ ...at, body: { ...body, steps } })))
    .catch(toProviderFailure);
}

function toProviderFailure(error: unknown): never {
  throw isRefused(error) ? new StepError('PROVIDER_FAILED', error.message) : error;
}

const isRefused = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === 'PARTS_MISMATCH';
