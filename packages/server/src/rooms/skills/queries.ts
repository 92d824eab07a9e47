import type { Insertable, Selectable, Updateable } from 'kysely';
import { type CursorPage, type PageRequest, takePage } from '../../db/cursor.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';

export type StoredSkill = Selectable<Schema['skills']>;

/** Skills belong to the workspace and have no project and no role. */
const OF_NO_PROJECT = { role: null, deletes_at: null };

export async function findVisibleSkill(
  db: Database,
  viewer: { workspaceId: string; userId: string },
  id: string,
): Promise<(StoredSkill & typeof OF_NO_PROJECT) | undefined> {
  const skill = await db
    .selectFrom('skills')
    .selectAll()
    .where('id', '=', id)
    .where('workspace_id', '=', viewer.workspaceId)
    .executeTakeFirst();
  return skill && { ...skill, ...OF_NO_PROJECT };
}

/** A skill in a list, without the fields that can be long. */
export type SkillSummary = Omit<StoredSkill, 'workspace_id' | 'metadata' | 'allowed_tools' | 'license'>;

export function listSkills(db: Database, workspaceId: string, page: PageRequest): Promise<CursorPage<SkillSummary>> {
  const query = db
    .selectFrom('skills')
    .select(['id', 'name', 'description', 'default_version_id', 'created_at', 'updated_at'])
    .where('workspace_id', '=', workspaceId);
  return takePage(query, { sort: 'created_at', id: 'id' }, (row) => [row.created_at, row.id], page);
}

export async function insertSkill(trx: Writer, skill: Insertable<Schema['skills']>): Promise<void> {
  await trx.insertInto('skills').values(skill).execute();
}

/** Updates the given fields only, so that concurrent changes of other fields are kept. */
export async function updateSkill(
  trx: Writer,
  id: string,
  changes: Updateable<Omit<Schema['skills'], 'id' | 'workspace_id' | 'created_at'>>,
): Promise<void> {
  await trx.updateTable('skills').set(changes).where('id', '=', id).execute();
}

export async function deleteSkill(trx: Writer, id: string): Promise<void> {
  await trx.deleteFrom('skills').where('id', '=', id).execute();
}

/** Serialises changes of a skill's versions. The update locks the row on both databases. */
export async function lockSkill(trx: Writer, id: string): Promise<StoredSkill | undefined> {
  return trx
    .updateTable('skills')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

type StoredSkillVersion = Selectable<Schema['skill_versions']>;
type VisibleSkillVersion = StoredSkillVersion & typeof OF_NO_PROJECT & { default_version_id: string | null };

export async function findVisibleSkillVersion(
  db: Database,
  viewer: { workspaceId: string; userId: string },
  id: string,
): Promise<VisibleSkillVersion | undefined> {
  const version = await db
    .selectFrom('skill_versions as version')
    .innerJoin('skills as skill', 'skill.id', 'version.skill_id')
    .where('version.id', '=', id)
    .where('skill.workspace_id', '=', viewer.workspaceId)
    .selectAll('version')
    .select('skill.default_version_id')
    .executeTakeFirst();
  return version && { ...version, ...OF_NO_PROJECT };
}

/** Returns the versions without their content, in the order of publication. */
export async function listSkillVersions(db: Database, skillId: string) {
  return db
    .selectFrom('skill_versions')
    .select(['id', 'version', 'note', 'created_at'])
    .where('skill_id', '=', skillId)
    .orderBy('version')
    .execute();
}

export async function isVersionOf(db: Database, skillId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('skill_versions')
    .select('id')
    .where('id', '=', id)
    .where('skill_id', '=', skillId)
    .executeTakeFirst();
  return row !== undefined;
}

export async function findContent(db: Database, versionId: string): Promise<string | undefined> {
  const row = await db.selectFrom('skill_versions').select('content').where('id', '=', versionId).executeTakeFirst();
  return row?.content;
}

/** Inserts the version with the next number. The caller must have locked the skill. */
export async function insertSkillVersion(
  trx: Writer,
  version: Omit<Insertable<Schema['skill_versions']>, 'version'>,
): Promise<void> {
  const { last } = await trx
    .selectFrom('skill_versions')
    .select((eb) => eb.fn.max('version').as('last'))
    .where('skill_id', '=', version.skill_id)
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('skill_versions')
    .values({ ...version, version: (last ?? 0) + 1 })
    .execute();
}

export async function deleteSkillVersion(trx: Writer, id: string): Promise<void> {
  await trx.deleteFrom('skill_versions').where('id', '=', id).execute();
}
