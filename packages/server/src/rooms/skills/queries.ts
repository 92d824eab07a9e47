import { Skill } from '@review/contract';
import type { Selectable } from 'kysely';
import { type CursorPage, type PageRequest, takePage } from '../../db/cursor.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';

interface SkillFields {
  name: string;
  description: string;
  metadata: Record<string, string> | null;
  allowedTools: string[] | null;
  license: string | null;
}

export interface StoredSkill extends SkillFields {
  id: string;
  defaultVersionId: string | null;
  createdAt: string;
  updatedAt: string;
}

/** Skills belong to the workspace and have no project and no role. */
const OF_NO_PROJECT = { projectId: null, role: null, deletes_at: null };
type VisibleSkill = StoredSkill & typeof OF_NO_PROJECT;

const { metadata: Metadata, allowedTools: AllowedTools } = Skill.shape;
const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));
const stored = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));

const record = (row: Selectable<Schema['skills']>): StoredSkill => ({
  id: row.id,
  name: row.name,
  description: row.description,
  metadata: Metadata.parse(parsed(row.metadata)),
  allowedTools: AllowedTools.parse(parsed(row.allowed_tools)),
  license: row.license,
  defaultVersionId: row.default_version_id,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export async function findVisibleSkill(
  db: Database,
  viewer: { workspaceId: string; userId: string },
  id: string,
): Promise<VisibleSkill | undefined> {
  const row = await db
    .selectFrom('skills')
    .selectAll()
    .where('id', '=', id)
    .where('workspace_id', '=', viewer.workspaceId)
    .executeTakeFirst();
  return row && { ...record(row), ...OF_NO_PROJECT };
}

/** A skill in a list, without the fields that can be long. */
export type SkillSummary = Omit<StoredSkill, 'metadata' | 'allowedTools' | 'license'>;

export function listSkills(db: Database, workspaceId: string, page: PageRequest): Promise<CursorPage<SkillSummary>> {
  const query = db
    .selectFrom('skills')
    .select(['id', 'name', 'description', 'default_version_id as defaultVersionId'])
    .select(['created_at as createdAt', 'updated_at as updatedAt'])
    .where('workspace_id', '=', workspaceId);
  return takePage(query, { sort: 'created_at', id: 'id' }, (row) => [row.createdAt, row.id], page);
}

export async function insertSkill(
  trx: Writer,
  skill: SkillFields & { id: string; workspaceId: string; createdAt: string },
): Promise<void> {
  await trx
    .insertInto('skills')
    .values({
      id: skill.id,
      workspace_id: skill.workspaceId,
      name: skill.name,
      description: skill.description,
      metadata: stored(skill.metadata),
      allowed_tools: stored(skill.allowedTools),
      license: skill.license,
      created_at: skill.createdAt,
      updated_at: skill.createdAt,
    })
    .execute();
}

/** Updates the given fields only, so that concurrent changes of other fields are kept. */
export async function updateSkill(
  trx: Writer,
  id: string,
  changes: Partial<SkillFields & { defaultVersionId: string }>,
  updatedAt: string,
): Promise<void> {
  const { name, description, metadata, allowedTools, license, defaultVersionId } = changes;
  await trx
    .updateTable('skills')
    .set({
      name,
      description,
      metadata: metadata && stored(metadata),
      allowed_tools: allowedTools && stored(allowedTools),
      license,
      default_version_id: defaultVersionId,
      updated_at: updatedAt,
    })
    .where('id', '=', id)
    .execute();
}

export async function deleteSkill(trx: Writer, id: string): Promise<void> {
  await trx.deleteFrom('skills').where('id', '=', id).execute();
}

/** Serialises changes of a skill's versions. The update locks the row on both databases. */
export async function lockSkill(trx: Writer, id: string): Promise<{ defaultVersionId: string | null } | undefined> {
  return trx
    .updateTable('skills')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id)
    .returning('default_version_id as defaultVersionId')
    .executeTakeFirst();
}

interface VisibleSkillVersion {
  id: string;
  projectId: null;
  role: null;
  deletes_at: null;
  skillId: string;
  version: number;
  content: string;
  note: string | null;
  isDefault: boolean;
  createdAt: string;
}

export async function findVisibleSkillVersion(
  db: Database,
  viewer: { workspaceId: string; userId: string },
  id: string,
): Promise<VisibleSkillVersion | undefined> {
  const row = await db
    .selectFrom('skill_versions as version')
    .innerJoin('skills as skill', 'skill.id', 'version.skill_id')
    .where('version.id', '=', id)
    .where('skill.workspace_id', '=', viewer.workspaceId)
    .selectAll('version')
    .select('skill.default_version_id')
    .executeTakeFirst();
  return (
    row && {
      ...OF_NO_PROJECT,
      id: row.id,
      skillId: row.skill_id,
      version: row.version,
      content: row.content,
      note: row.note,
      isDefault: row.id === row.default_version_id,
      createdAt: row.created_at,
    }
  );
}

/** Returns the versions without their content, in the order of publication. */
export async function listSkillVersions(db: Database, skillId: string) {
  return db
    .selectFrom('skill_versions')
    .select(['id', 'version', 'note', 'created_at as createdAt'])
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
  version: { id: string; skillId: string; content: string; note: string | null; createdAt: string },
): Promise<void> {
  const { id, skillId, content, note, createdAt } = version;
  const { last } = await trx
    .selectFrom('skill_versions')
    .select((eb) => eb.fn.max('version').as('last'))
    .where('skill_id', '=', skillId)
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('skill_versions')
    .values({ id, skill_id: skillId, version: (last ?? 0) + 1, content, note, created_at: createdAt })
    .execute();
}

export async function deleteSkillVersion(trx: Writer, id: string): Promise<void> {
  await trx.deleteFrom('skill_versions').where('id', '=', id).execute();
}
