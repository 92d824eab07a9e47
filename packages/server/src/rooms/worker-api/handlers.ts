import { randomUUID } from 'node:crypto';
import type { Provider, WorkerApi } from '@review/contract';
import { parseJson } from '../../db/json.ts';
import { now } from '../../db/time.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Deps } from '../../deps.ts';
import { ProblemError } from '../../request/problem.ts';
import { endFile } from '../generation/end.ts';
import { recordSubmit, type StoredGeneration, updateProgress, updateStages } from '../generation/queries.ts';
import { expireLeases, releaseLease, renewLeases, takeTasks } from '../generation/slots.ts';
import type { WorkerHandlers } from '../handler.ts';
import { abilitiesOf } from '../workers/abilities.ts';
import { findWithLiving, insertWorker, recordHeartbeat } from '../workers/queries.ts';
import { changeHeld, finishStep, recordJob, recordSteps } from './change-held.ts';
import { resultHandlers } from './result.ts';
import { findTasks } from './tasks.ts';

const LEASE_SECONDS = 30;
/** The poll interval of a waiting claim for changes made by other processes. */
const POLL_INTERVAL_MS = 500;

/** The handlers of the worker API. They change a generation only under the epoch that the worker has claimed. */
export const workerHandlers = (deps: Deps): WorkerHandlers<WorkerApi> => {
  const { db, clock, config, queueNotifier, watch } = deps;

  async function claimTasks(name: string, limit: number, base: string) {
    const { worker, living } = await findWithLiving(db, clock, name);
    const abilities = abilitiesOf(worker, living, config.generation);
    const holder = { engine: 'embedded', owner: name, leaseUntil: clock(LEASE_SECONDS), abilities } as const;
    const taken = await takeTasks(db, holder, config.generation, limit, clock());
    const fileIds = taken.map(({ fileId }) => fileId);
    const tasks = await findTasks(deps, fileIds, base);
    // A file that was deleted since has no task.
    return taken.flatMap((claim) => {
      const task = tasks.get(claim.fileId)?.task;
      return task === undefined ? [] : [{ ...claim, task }];
    });
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

    async claim({ body: { worker, most, wait }, base, signal }) {
      const deadline = performance.now() + wait * 1000;
      for (;;) {
        const seen = queueNotifier.count;
        const tasks = config.engine === 'embedded' ? await claimTasks(worker, most, base) : [];
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
      const found = (await findTasks(deps, [id], base)).get(id);
      if (found?.epoch !== epoch) throw new ProblemError('NOT_FOUND');
      return { data: found.task };
    },

    async reserveSubmit({ id, body: { epoch, stage, provider, intents, token } }) {
      const answer = await changeHeld(db, id, { epoch }, async (trx, held) => {
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
      changeHeld(db, id, { epoch }, async (trx, held) => {
        const stages = parseJson(held.stages);
        const known = stages[stage];
        if (known?.intents !== intents || known.job !== null) return;
        await updateStages(trx, id, { ...stages, [stage]: { intents: intents - 1, job: null } });
      }),

    submitted: ({ id, body }) => changeHeld(db, id, body, (trx, held) => recordJob(trx, held, body)),

    async progress({ id, body: { epoch, progress, steps = [] } }) {
      if (steps.length > 0) await changeHeld(db, id, { epoch, steps }, async () => {});
      if (!(await updateProgress(db, id, epoch, progress))) throw new ProblemError('NOT_FOUND');
    },

    ...resultHandlers(deps),

    recordSteps: ({ id, body }) => changeHeld(db, id, body, async () => {}),

    recordStep: ({ id, body: { epoch, ...step } }) =>
      changeHeld(db, id, { epoch, steps: [{ ...step, id: randomUUID(), ago: 0 }] }, async () => {}),

    async finish({ id, body: { outcome, ...report } }) {
      const startedAt = now();
      await changeHeld(db, id, report, async (trx, held) => {
        if (outcome.status === 'SUCCEEDED') {
          if (held.result === null) throw new ProblemError('FILE_NOT_READY');
          await recordSteps(trx, id, [finishStep(startedAt, now())]);
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
