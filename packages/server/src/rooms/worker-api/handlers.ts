import { randomUUID } from 'node:crypto';
import type { WorkerApi } from '@review/contract';
import { parseJson } from '../../db/json.ts';
import type { Writer } from '../../db/schema.ts';
import { now, secondsFromNow } from '../../db/time.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Deps } from '../../deps.ts';
import { ProblemError } from '../../request/problem.ts';
import { type Written, writeWithEvents } from '../events/outbox.ts';
import { endFile } from '../generation/end.ts';
import { isHeld, raiseProgress, updateStages } from '../generation/queries.ts';
import { expireLeases, releaseLease, renewLeases, takeTasks } from '../generation/slots.ts';
import { startHandOver } from '../generation/trace-context.ts';
import type { WorkerHandlers } from '../handler.ts';
import { mediaWorkerHandlers } from '../media/worker.ts';
import { webhookWorkerHandlers } from '../webhooks/worker.ts';
import { abilitiesOf } from '../workers/abilities.ts';
import { findWithLiving, insertWorker, recordHeartbeat } from '../workers/queries.ts';
import { changeHeld, finishStep, recordJob, recordSteps, UNSEEN } from './change-held.ts';
import { reserveSubmit } from './reserve-submit.ts';
import { resultHandlers } from './result.ts';
import { findTasks } from './tasks.ts';
import { waitForClaims } from './wait-for-claims.ts';

const LEASE_SECONDS = 30;
/** The minimum time between two events about the progress of a generation. */
const PROGRESS_EVENT_SECONDS = 1;

/** The handlers of the worker API. They change a generation only under the epoch that the worker has claimed. */
export const workerHandlers = (deps: Deps): WorkerHandlers<WorkerApi> => {
  const { db, clock, config, queueNotifier, watch } = deps;

  async function claimTasks(name: string, limit: number, base: string) {
    const { worker, living } = await findWithLiving(db, clock, name);
    if (worker.draining_since !== null) return [];
    const abilities = abilitiesOf(worker, living, config.generation);
    const holder = { engine: 'embedded', owner: name, leaseUntil: clock(LEASE_SECONDS), abilities } as const;
    const taken = await takeTasks(db, holder, config.generation, limit, clock());
    const fileIds = taken.map(({ fileId }) => fileId);
    const tasks = await findTasks(deps, fileIds, base);
    // A file that was deleted since has no task.
    return taken.flatMap((claim) => {
      const found = tasks.get(claim.fileId);
      if (found === undefined) return [];
      const handOver = startHandOver(found.generation, 'embedded');
      handOver?.span.end();
      return [{ ...claim, traceparent: handOver?.traceparent, task: found.task }];
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

    async heartbeat({ body }) {
      const { draining_since: drainingSince } = await recordHeartbeat(db, body, clock, now());
      return { data: { draining: drainingSince !== null } };
    },

    async claim({ body: { worker, most, wait }, base, disconnected }) {
      let seen = 0;
      const pause = (milliseconds: number, ended: AbortSignal) => queueNotifier.wait(seen, milliseconds, ended);
      const tasks = await waitForClaims(deps, { wait, signal: disconnected(), pause }, () => {
        seen = queueNotifier.count;
        return claimTasks(worker, most, base);
      });
      return { data: { tasks, leaseSeconds: LEASE_SECONDS } };
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
      if (found?.generation.epoch !== epoch) throw new ProblemError('NOT_FOUND');
      return { data: found.task };
    },

    reserveSubmit: reserveSubmit(deps),

    releaseSubmit: ({ id, body: { epoch, stage, intents } }) =>
      changeHeld(deps, id, { epoch }, async (trx, held) => {
        const stages = parseJson(held.stages);
        const known = stages[stage];
        if (known?.intents !== intents || known.job !== null) return UNSEEN;
        await updateStages(trx, id, { ...stages, [stage]: { intents: intents - 1, job: null } });
        return UNSEEN;
      }),

    submitted: ({ id, body }) =>
      changeHeld(deps, id, body, async (trx, held) => {
        await recordJob(trx, held, body);
        return UNSEEN;
      }),

    async progress({ id, body: { epoch, progress, steps = [] } }) {
      const at = now();
      const raise = async (trx: Writer): Promise<Written<void>> => {
        const dueSince = secondsFromNow(-PROGRESS_EVENT_SECONDS);
        const raised = await raiseProgress(trx, { fileId: id, epoch, progress, at, dueSince });
        if (raised === undefined && !(await isHeld(trx, id, epoch))) throw new ProblemError('NOT_FOUND');
        if (raised?.progressed_at !== at) return UNSEEN;
        const about = { projectId: raised.project_id, subjectId: id };
        return { answer: undefined, events: [{ type: 'file.generation.progressed', ...about, data: { progress } }] };
      };
      await (steps.length > 0 ? changeHeld(deps, id, { epoch, steps }, raise) : writeWithEvents(deps, null, raise));
    },

    ...resultHandlers(deps),
    ...webhookWorkerHandlers(deps),
    ...mediaWorkerHandlers(deps),

    recordSteps: ({ id, body }) => changeHeld(deps, id, body, async () => UNSEEN),

    recordStep: ({ id, body: { epoch, ...step } }) =>
      changeHeld(deps, id, { epoch, steps: [{ ...step, id: randomUUID(), ago: 0 }] }, async () => UNSEEN),

    async finish({ id, body: { outcome, ...report } }) {
      const startedAt = now();
      await changeHeld(deps, id, report, async (trx, held) => {
        if (outcome.status === 'SUCCEEDED') {
          if (held.result === null) throw new ProblemError('FILE_NOT_READY');
          await recordSteps(trx, id, [finishStep(startedAt, now())]);
        }
        const event = await endFile(trx, held, outcome, now());
        return { answer: undefined, events: event ? [event] : [] };
      });
      watch.changed(id);
      queueNotifier.notify();
    },
  };
};
