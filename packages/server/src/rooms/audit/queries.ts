import type { Insertable } from 'kysely';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Database, Schema } from '../../db/schema.ts';

export const insertAct = prepared.run((db, act: Params<Insertable<Schema['audit_log']>>) =>
  db.insertInto('audit_log').values(act),
);

export const findWorkspaceOf = prepared.first((db, projectId: Param<string>) =>
  db.selectFrom('projects').select('workspace_id').where('id', '=', projectId),
);

export interface ActFilter {
  act?: string | undefined;
  workspaceId?: string | undefined;
  /** The id or e-mail of a user, or the operator of a command. */
  by?: string | undefined;
  since?: string | undefined;
  /** Only those before this one. */
  before?: string | undefined;
  limit: number;
}

/** Returns acts with the e-mail of their actor, the last one first. */
export async function listActs(db: Database, { act, workspaceId, by, since, before, limit }: ActFilter) {
  return db
    .selectFrom('audit_log as entry')
    .leftJoin('users as actor', 'actor.id', 'entry.actor_id')
    .selectAll('entry')
    .select('actor.email as actor_email')
    .$if(act !== undefined, (query) => query.where('entry.act', '=', act ?? ''))
    .$if(workspaceId !== undefined, (query) => query.where('entry.workspace_id', '=', workspaceId ?? ''))
    .$if(since !== undefined, (query) => query.where('entry.at', '>=', since ?? ''))
    .$if(by !== undefined, (query) =>
      query.where((eb) =>
        eb.or([
          eb('entry.operator', '=', by ?? ''),
          eb('entry.actor_id', '=', by ?? ''),
          eb('actor.email', '=', (by ?? '').toLowerCase()),
        ]),
      ),
    )
    .$if(before !== undefined, (query) =>
      query.where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('entry.at', 'entry.id'),
          '<',
          selectFrom('audit_log as last')
            .select(['last.at', 'last.id'])
            .where('last.id', '=', before ?? '')
            .$asTuple('at', 'id'),
        ),
      ),
    )
    .orderBy('entry.at', 'desc')
    .orderBy('entry.id', 'desc')
    .limit(limit)
    .execute();
}

export async function hasAct(db: Database, id: string): Promise<boolean> {
  return (await db.selectFrom('audit_log').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;
}

export async function countExpiredActs(db: Database, before: string): Promise<number> {
  const { count } = await db
    .selectFrom('audit_log')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('at', '<', before)
    .executeTakeFirstOrThrow();
  return count;
}

export async function deleteExpiredActs(db: Database, before: string): Promise<void> {
  await db.deleteFrom('audit_log').where('at', '<', before).execute();
}
