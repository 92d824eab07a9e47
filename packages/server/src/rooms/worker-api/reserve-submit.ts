import type { Provider, WorkerApi } from '@review/contract';
import { parseJson } from '../../db/json.ts';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { ProblemError } from '../../request/problem.ts';
import { type NewEvent, writeWithEvents } from '../events/outbox.ts';
import { lockHeld, recordFirstSubmit, recordSubmit, type StoredGeneration } from '../generation/queries.ts';
import type { WorkerHandlers } from '../handler.ts';

/** Grants a submit to the provider, unless another one was reserved or another provider is required. */
export const reserveSubmit = (deps: Deps): WorkerHandlers<WorkerApi>['reserveSubmit'] => {
  const { clock, config, watch } = deps;
  const { deadlines } = config.generation;

  return async ({ id, body: { epoch, stage, provider, intents, token } }) => {
    const reserved = { intents: intents + 1, job: null, token };
    const granted = { granted: true, stage: reserved, provider };
    const startedEvent = (projectId: string): NewEvent => ({
      type: 'file.generation.started',
      projectId,
      subjectId: id,
      data: {},
    });

    const answer = await writeWithEvents(deps, null, async (trx) => {
      const first =
        intents === 0
          ? await recordFirstSubmit(trx, {
              fileId: id,
              epoch,
              stages: { [stage]: reserved },
              provider,
              startedAt: now(),
              DOCUMENT: clock(deadlines.DOCUMENT),
              IMAGE: clock(deadlines.IMAGE),
              VIDEO: clock(deadlines.VIDEO),
              '3D': clock(deadlines['3D']),
            })
          : undefined;
      if (first !== undefined) return { answer: granted, events: [startedEvent(first.project_id)] };

      const held = await lockHeld(trx, id, epoch);
      if (held === undefined) throw new ProblemError('NOT_FOUND');
      const stages = parseJson(held.stages);
      const known = stages[stage] ?? { intents: 0, job: null };
      const current = { stage: known, provider: held.provider };
      if (known.token === token && known.job === null) return { answer: { granted: true, ...current }, events: [] };
      if (!canUseProvider(provider, held, config.generation)) {
        return { answer: { granted: false, stage: known, provider: held.provider ?? 'live' }, events: [] };
      }
      // An earlier submit was reserved: the worker has to decide whether to submit again.
      if (known.intents !== intents || known.job !== null)
        return { answer: { granted: false, ...current }, events: [] };
      const { project_id: projectId } = await recordSubmit(trx, id, {
        stages: { ...stages, [stage]: reserved },
        provider,
        startedAt: now(),
        deadlineAt: clock(deadlines[held.output_type]),
      });
      return { answer: granted, events: held.status === 'RUNNING' ? [] : [startedEvent(projectId)] };
    });
    watch.changed(id);
    return { data: answer };
  };
};

/** Whether the provider may run the generation. A worker may have been restarted with other keys since the claim. */
function canUseProvider(provider: Provider, held: StoredGeneration, allowed: { sandbox: boolean }): boolean {
  if (held.provider !== null) return held.provider === provider;
  return provider === 'live' || (held.promised === 'sandbox' && allowed.sandbox);
}
