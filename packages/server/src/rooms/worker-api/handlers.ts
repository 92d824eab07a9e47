import { randomUUID } from 'node:crypto';
import {
  findModel,
  formatOf,
  type GenerationTask,
  type Provider,
  type WorkerApi,
  type WorkerTask,
} from '@review/contract';
import { parseJson } from '../../db/json.ts';
import type { Writer } from '../../db/schema.ts';
import { now, secondsFromNow } from '../../db/time.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Deps } from '../../deps.ts';
import { ProblemError } from '../../request/problem.ts';
import { hashObject } from '../../storage/hash-object.ts';
import { findStoredFiles } from '../files/queries.ts';
import { endFile } from '../generation/end.ts';
import {
  findGenerations,
  insertStep,
  isHeld,
  listSteps,
  lockHeld,
  recordSubmit,
  type StoredGeneration,
  setResult,
  updateProgress,
  updateStages,
} from '../generation/queries.ts';
import { expireLeases, releaseLease, renewLeases, takeTasks } from '../generation/slots.ts';
import type { WorkerHandlers } from '../handler.ts';
import { URL_SECONDS } from '../uploads/download.ts';
import { dropUploads, findUpload, findUploads, insertUpload } from '../uploads/queries.ts';
import { completeUpload, ensureStorageUpload, newUploadRow, signParts } from '../uploads/upload.ts';
import { abilitiesOf } from '../workers/abilities.ts';
import { findWorker, insertWorker, listLiving, recordHeartbeat } from '../workers/queries.ts';

const LEASE_SECONDS = 30;
/** The poll interval of a waiting claim for changes made by other processes. */
const POLL_INTERVAL_MS = 500;

/** The handlers of the worker API. They change a generation only under the epoch that the worker has claimed. */
export const workerHandlers = (deps: Deps): WorkerHandlers<WorkerApi> => {
  const { db, clock, config, storage, queueNotifier, watch } = deps;

  /** Runs a change with the generation locked. Throws NOT_FOUND if the epoch is not current. */
  const changeHeld = <T>(fileId: string, epoch: number, work: (trx: Writer, held: StoredGeneration) => Promise<T>) =>
    inTransaction(db, async (trx) => {
      const held = await lockHeld(trx, fileId, epoch);
      if (held === undefined) throw new ProblemError('NOT_FOUND');
      return work(trx, held);
    });

  async function claimTasks(worker: string, limit: number): Promise<GenerationTask[]> {
    const abilities = abilitiesOf(await findWorker(db, worker), await listLiving(db, clock), config.generation);
    const holder = { engine: 'embedded', owner: worker, leaseUntil: clock(LEASE_SECONDS), abilities } as const;
    return takeTasks(db, holder, config.generation, limit, clock());
  }

  return {
    async register({ body }) {
      await inTransaction(db, async (trx) => {
        await insertWorker(trx, body, clock, now());
        await expireLeases(trx, { owner: body.worker, now: clock() });
      });
      queueNotifier.notify();
      return { data: { engine: config.engine } };
    },

    heartbeat: ({ body }) => recordHeartbeat(db, body, clock, now()),

    async claim({ body: { worker, most, wait }, signal }) {
      const deadline = performance.now() + wait * 1000;
      for (;;) {
        const seen = queueNotifier.count;
        const tasks = config.engine === 'embedded' ? await claimTasks(worker, most) : [];
        const left = deadline - performance.now();
        if (tasks.length > 0 || left <= 0 || signal.aborted || deps.stopping.aborted) {
          return { data: { tasks, leaseSeconds: LEASE_SECONDS } };
        }
        await queueNotifier.wait(seen, Math.min(POLL_INTERVAL_MS, left), AbortSignal.any([signal, deps.stopping]));
      }
    },

    async renew({ body: { worker, tasks } }) {
      const leaseUntil = clock(LEASE_SECONDS);
      return { data: { lost: await inTransaction(db, (trx) => renewLeases(trx, worker, tasks, leaseUntil)) } };
    },

    async release({ id, body: { worker, epoch } }) {
      await inTransaction(db, (trx) => releaseLease(trx, { owner: worker, fileId: id, epoch, now: clock() }));
      queueNotifier.notify();
    },

    async getTask({ id, query: { epoch }, base }) {
      const generation = (await findGenerations(db, [id])).get(id);
      if (generation?.epoch !== epoch) throw new ProblemError('NOT_FOUND');
      const content = await contentOf(deps, generation.attachments, base);
      const attachments = generation.attachments.map((attachmentId) => ({
        id: attachmentId,
        content: content.get(attachmentId) ?? null,
      }));
      const task: WorkerTask = {
        fileId: generation.file_id,
        family: generation.family,
        status: generation.status,
        outputType: generation.output_type,
        outputModel: generation.output_model,
        prompt: generation.prompt,
        configs: parseJson(generation.configs),
        provider: generation.provider,
        attachments,
        stages: parseJson(generation.stages),
        stored: generation.result !== null,
      };
      return { data: task };
    },

    async reserveSubmit({ id, body: { epoch, stage, provider, intents, token } }) {
      const answer = await changeHeld(id, epoch, async (trx, held) => {
        const stages = parseJson(held.stages);
        const known = stages[stage] ?? { intents: 0, job: null };
        const answer = { stage: known, provider: held.provider };
        if (known.token === token && known.job === null) return { granted: true, ...answer };
        if (!canUseProvider(provider, held, config.generation)) {
          return { granted: false, stage: known, provider: held.provider ?? 'live' };
        }
        // An earlier submit was reserved: the worker has to decide whether to submit again.
        if (known.intents !== intents || known.job !== null) return { granted: false, ...answer };
        const reserved = { intents: intents + 1, job: null, token };
        await recordSubmit(trx, id, {
          stages: { ...stages, [stage]: reserved },
          provider,
          startedAt: now(),
          deadlineAt: clock(config.generation.deadlines[held.output_type]),
        });
        return { granted: true, stage: reserved, provider };
      });
      watch.changed(id);
      return { data: answer };
    },

    releaseSubmit: ({ id, body: { epoch, stage, intents } }) =>
      changeHeld(id, epoch, async (trx, held) => {
        const stages = parseJson(held.stages);
        const known = stages[stage];
        if (known?.intents !== intents || known.job !== null) return;
        await updateStages(trx, id, { ...stages, [stage]: { intents: intents - 1, job: null } });
      }),

    submitted: ({ id, body: { epoch, stage, job, jobId } }) =>
      changeHeld(id, epoch, async (trx, held) => {
        const stages = parseJson(held.stages);
        const intents = stages[stage]?.intents ?? 1;
        await updateStages(trx, id, { ...stages, [stage]: { intents, job: job ?? null } }, jobId);
      }),

    async progress({ id, body: { epoch, progress } }) {
      if (!(await updateProgress(db, id, epoch, progress))) throw new ProblemError('NOT_FOUND');
    },

    async startUpload({ id, body: { epoch, size }, base }) {
      await changeHeld(id, epoch, async (trx, held) => {
        await dropUploads(trx, [id], now());
        await setResult(trx, id, null);
        const file = (await findStoredFiles(trx, [id])).get(id);
        if (file === undefined) throw new ProblemError('NOT_FOUND');
        const model = findModel(held.output_model);
        const asked = { name: id, size, mimeType: model && formatOf(model).mimeType };
        const row = newUploadRow(deps, { id, projectId: file.project_id, startedBy: file.created_by, asked });
        await insertUpload(trx, { ...row, storage_key: `${id}-${randomUUID()}` });
      });
      const parts = await signParts(deps, await ensureStorageUpload(deps, id));
      return { data: { parts: parts.map((part) => ({ ...part, url: rebaseUrl(deps, part.url, base) })) } };
    },

    async completeUpload({ id, body: { epoch, parts, sha256 } }) {
      const write = <T>(work: (trx: Writer) => Promise<T>) => changeHeld(id, epoch, (trx) => work(trx));
      // Checked before the storage is called, because the open upload may belong to a later epoch.
      if (!(await isHeld(db, id, epoch))) throw new ProblemError('NOT_FOUND');
      await completeUpload(deps, write, id, { parts });
      const upload = await findUpload(db, id);
      if (upload?.mime_type == null) throw new ProblemError('NOT_FOUND');
      const { storage_key: storageKey, size, mime_type: mimeType } = upload;
      const found = await hashObject(storage, storageKey);
      await changeHeld(id, epoch, async (trx, held) => {
        // The upload was restarted meanwhile; the sweep deletes this blob.
        if ((await findUpload(trx, id))?.storage_key !== storageKey) throw new ProblemError('UPLOAD_COMPLETED');
        const model = findModel(held.output_model);
        const isExpectedType = model !== undefined && formatOf(model).accepts.test(mimeType);
        if (!isExpectedType)
          throw resultMismatch(`The result has the type ${mimeType}, which ${held.output_model} does not make.`);
        if (found !== sha256)
          throw resultMismatch('The SHA-256 of the stored result differs from that of the request.');
        await setResult(trx, id, { storageKey, size, mimeType, sha256 });
      });
    },

    recordStep: ({ id, body: { epoch, name, attempt, outcome, message, milliseconds } }) =>
      changeHeld(id, epoch, (trx) =>
        insertStep(trx, {
          file_id: id,
          name,
          attempt,
          outcome,
          message,
          started_at: secondsFromNow(-milliseconds / 1000),
          finished_at: now(),
        }),
      ),

    async finish({ id, body: { epoch, outcome } }) {
      const startedAt = now();
      await changeHeld(id, epoch, async (trx, held) => {
        if (outcome.status === 'SUCCEEDED' && held.result === null) throw new ProblemError('FILE_NOT_READY');
        if (outcome.status === 'SUCCEEDED') {
          // Recorded in the same transaction, because no step can be recorded after the end.
          const attempt = 1 + (await listSteps(trx, id)).filter(({ name }) => name === 'finish').length;
          const times = { started_at: startedAt, finished_at: now() };
          const step = { name: 'finish', attempt, outcome: 'SUCCEEDED', message: null } as const;
          await insertStep(trx, { file_id: id, ...step, ...times });
        }
        await endFile(trx, held, outcome, now());
      });
      watch.changed(id);
      queueNotifier.notify();
    },
  };
};

/** Whether the provider may run the generation. A worker may have been restarted with other keys since the claim. */
function canUseProvider(provider: Provider, held: StoredGeneration, allowed: { sandbox: boolean }): boolean {
  if (held.provider !== null) return held.provider === provider;
  return provider === 'live' || (held.promised === 'sandbox' && allowed.sandbox);
}

const resultMismatch = (detail: string) => new ProblemError('PARTS_MISMATCH', { detail });

type Content = NonNullable<WorkerTask['attachments'][number]['content']>;

/** Returns presigned URLs of the attachments that still exist. */
async function contentOf(deps: Deps, ids: string[], base: string): Promise<Map<string, Content>> {
  const files = await findStoredFiles(deps.db, ids);
  const uploads = await findUploads(
    deps.db,
    ids.filter((id) => id.startsWith('GA')),
  );
  const found = new Map<string, Content>();
  for (const id of ids) {
    const { name, mime_type: mimeType, size, storage_key: key } = files.get(id) ?? uploads.get(id) ?? {};
    if (name === undefined || mimeType == null || size == null || key == null) continue;
    const url = await deps.storage.downloadUrl(key, { name, mimeType }, URL_SECONDS);
    found.set(id, { name, mimeType, size, url: rebaseUrl(deps, url, base) });
  }
  return found;
}

/** Replaces PUBLIC_URL by the address that the worker called, because a worker may not reach the public one. */
const rebaseUrl = ({ config }: Deps, url: string, base: string): string =>
  url.startsWith(`${config.publicUrl}/`) ? base + url.slice(config.publicUrl.length) : url;
