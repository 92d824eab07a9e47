import type { Family, GenerationStatus } from '@review/contract';
import { type Moment, timeOf } from '../../db/clock.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Database } from '../../db/schema.ts';
import { OPEN } from './queries.ts';

export interface GenerationFilter {
  workspaceId?: string | undefined;
  family?: Family | undefined;
  statuses: readonly GenerationStatus[];
  /** Only those that were queued before this generation. */
  before?: string | undefined;
  limit: number;
}

/** Returns generations of all workspaces, the last queued first. */
export async function listGenerations(
  db: Database,
  { workspaceId, family, statuses, before, limit }: GenerationFilter,
) {
  return db
    .selectFrom('generations')
    .selectAll()
    .where('status', 'in', statuses)
    .$if(workspaceId !== undefined, (query) => query.where('workspace_id', '=', workspaceId ?? ''))
    .$if(family !== undefined, (query) => query.where('family', '=', family ?? 'document'))
    .$if(before !== undefined, (query) =>
      query.where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('queued_at', 'file_id'),
          '<',
          selectFrom('generations as last')
            .select(['last.queued_at', 'last.file_id'])
            .where('last.file_id', '=', before ?? '')
            .$asTuple('queued_at', 'file_id'),
        ),
      ),
    )
    .orderBy('queued_at', 'desc')
    .orderBy('file_id', 'desc')
    .limit(limit)
    .execute();
}

/** Returns the generation of a file with the names of its file, project and workspace. */
export const findWithPlace = prepared.first((db, fileId: Param<string>) =>
  db
    .selectFrom('generations')
    .innerJoin('files as file', 'file.id', 'generations.file_id')
    .innerJoin('projects as project', 'project.id', 'file.project_id')
    .innerJoin('workspaces as workspace', 'workspace.id', 'generations.workspace_id')
    .selectAll('generations')
    .select(['file.name as file_name', 'file.project_id', 'project.name as project_name'])
    .select('workspace.name as workspace_name')
    .where('generations.file_id', '=', fileId),
);

/**
 * Takes a claimed generation from its holder, whose reports then get 404, and lets it be claimed again: one that runs at once,
 * with its reserved submits, and one that has not started from the queue. Returns whether it was claimed.
 */
export const requeue = prepared.changed((db, { fileId, now }: Params<{ fileId: string; now: Moment }>) =>
  db
    .updateTable('generations')
    .set((eb) => ({
      epoch: eb('epoch', '+', 1),
      lease_owner: null,
      engine: eb.case().when('status', '=', 'RUNNING').then(eb.ref('engine')).else(null).end(),
      lease_until: eb.case().when('status', '=', 'RUNNING').then(timeOf(db, now)).else(null).end(),
    }))
    .where('file_id', '=', fileId)
    .where('status', 'in', OPEN)
    .where('engine', 'is not', null),
);
