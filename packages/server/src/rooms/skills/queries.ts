import type { Insertable, Selectable, Updateable } from 'kysely';
import { preparedPages } from '../../db/cursor.ts';
import { locked } from '../../db/locked.ts';
import { lookUp } from '../../db/look-ups.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Schema, Writer } from '../../db/schema.ts';

export type StoredSkill = Selectable<Schema['skills']>;

/** Skills belong to the workspace and have no project and no role. */
const OF_NO_PROJECT = { role: null, deletes_at: null };

export const findVisibleSkill = prepared(
  (db, { workspaceId, id }: Params<{ workspaceId: string; id: string }>) =>
    db.selectFrom('skills').selectAll().where('id', '=', id).where('workspace_id', '=', workspaceId),
  ([skill]) => skill && { ...skill, ...OF_NO_PROJECT },
  lookUp,
);

/** A skill in a list, without the fields that can be long. */
export type SkillSummary = Omit<StoredSkill, 'workspace_id' | 'metadata' | 'allowed_tools' | 'license'>;

export const listSkills = preparedPages(
  'skills',
  (db, { workspaceId }: Params<{ workspaceId: string }>) =>
    db
      .selectFrom('skills')
      .select(['id', 'name', 'description', 'default_version_id', 'created_at', 'updated_at'])
      .where('workspace_id', '=', workspaceId),
  () => 'created_at',
);

export const insertSkill = prepared.run((db, skill: Params<Insertable<Schema['skills']>>) =>
  db.insertInto('skills').values(skill),
);

type SkillChanges = Updateable<Omit<Schema['skills'], 'id' | 'workspace_id' | 'created_at'>>;

/** Updates the given fields only, so that concurrent changes of other fields are kept. */
export const updateSkill = prepared.run((db, { id, ...changes }: Params<{ id: string } & SkillChanges>) =>
  db.updateTable('skills').set(changes).where('id', '=', id),
);

export const deleteSkill = prepared.run((db, id: Param<string>) => db.deleteFrom('skills').where('id', '=', id));

/** Serialises changes of a skill's versions. */
export const lockSkill = prepared.first((db, id: Param<string>) =>
  locked(db, db.selectFrom('skills').selectAll().where('id', '=', id)),
);

export const findVisibleSkillVersion = prepared(
  (db, { workspaceId, id }: Params<{ workspaceId: string; id: string }>) =>
    db
      .selectFrom('skill_versions as version')
      .innerJoin('skills as skill', 'skill.id', 'version.skill_id')
      .where('version.id', '=', id)
      .where('skill.workspace_id', '=', workspaceId)
      .selectAll('version')
      .select('skill.default_version_id'),
  ([version]) => version && { ...version, ...OF_NO_PROJECT },
  lookUp,
);

/** Returns the versions without their content, in the order of publication. */
export const listSkillVersions = prepared.all((db, skillId: Param<string>) =>
  db
    .selectFrom('skill_versions')
    .select(['id', 'version', 'note', 'created_at'])
    .where('skill_id', '=', skillId)
    .orderBy('version'),
);

export const isVersionOf = prepared.exists((db, { skillId, id }: Params<{ skillId: string; id: string }>) =>
  db.selectFrom('skill_versions').select('id').where('id', '=', id).where('skill_id', '=', skillId),
);

export const findContent = prepared(
  (db, versionId: Param<string>) => db.selectFrom('skill_versions').select('content').where('id', '=', versionId),
  ([row]) => row?.content,
);

const findLast = prepared.one((db, skillId: Param<string>) =>
  db
    .selectFrom('skill_versions')
    .select((eb) => eb.fn.max('version').as('last'))
    .where('skill_id', '=', skillId),
);

const insertRow = prepared.run((db, version: Params<Insertable<Schema['skill_versions']>>) =>
  db.insertInto('skill_versions').values(version),
);

/** Inserts the version with the next number. The caller must have locked the skill. */
export async function insertSkillVersion(
  trx: Writer,
  version: Omit<Insertable<Schema['skill_versions']>, 'version'>,
): Promise<void> {
  const { last } = await findLast(trx, version.skill_id);
  await insertRow(trx, { ...version, version: (last ?? 0) + 1 });
}

export const deleteSkillVersion = prepared.run((db, id: Param<string>) =>
  db.deleteFrom('skill_versions').where('id', '=', id),
);
