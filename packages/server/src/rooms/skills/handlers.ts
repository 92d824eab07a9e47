import type { Contract } from '@review/contract';
import { newId } from '../../db/ids.ts';
import type { Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { cursors } from '../../request/cursors.ts';
import { ProblemError, referenceNotFound } from '../../request/problem.ts';
import type { Handlers } from '../handler.ts';
import {
  deleteSkill,
  deleteSkillVersion,
  findContent,
  insertSkill,
  insertSkillVersion,
  isVersionOf,
  listSkills,
  listSkillVersions,
  lockSkill,
  type SkillSummary,
  type StoredSkill,
  updateSkill,
} from './queries.ts';
import { skillMd } from './skill-md.ts';

export const skills = ({ db, secrets }: Deps): Handlers<Contract['skills']> => ({
  async list({ caller: { workspaceId }, body }) {
    const pages = cursors(secrets.cursor, 'skills', { workspaceId });
    const page = { direction: 'desc', from: pages.position(body) } as const;
    return pages.answer(await listSkills(db, workspaceId, page), toSummary);
  },

  create: ({ caller, body, write }) =>
    write(async (trx) => {
      const { name, description, metadata = null, allowedTools = null, license = null } = body;
      const id = newId('SK');
      const fields = { name, description, metadata, allowedTools, license };
      await insertSkill(trx, { id, workspaceId: caller.workspaceId, ...fields, createdAt: now() });
      return { data: { id } };
    }),

  async get({ subject: skill }) {
    const versions = await listSkillVersions(db, skill.id);
    const marked = versions.map((version) => ({ ...version, isDefault: version.id === skill.defaultVersionId }));
    return { data: { ...toResponse(skill), versions: marked } };
  },

  update: ({ subject: skill, body: { default: chosen, ...fields }, write }) =>
    write(async (trx) => {
      await lock(trx, skill.id);
      if (chosen && !(await isVersionOf(trx, skill.id, chosen.id))) throw referenceNotFound('/default/id');
      await updateSkill(trx, skill.id, { ...fields, defaultVersionId: chosen?.id }, now());
    }),

  delete: ({ subject: skill, write }) => write((trx) => deleteSkill(trx, skill.id)),

  async export({ subject: skill }) {
    const content = skill.defaultVersionId === null ? undefined : await findContent(db, skill.defaultVersionId);
    if (content === undefined)
      throw new ProblemError('NOT_FOUND', { detail: 'The skill has no published version. Publish one first.' });
    return skillMd(skill, content);
  },

  publish: ({ subject: skill, body, write }) =>
    write(async (trx) => {
      const { content, note = null, isDefault = false } = body;
      const { defaultVersionId } = await lock(trx, skill.id);
      const id = newId('SV');
      await insertSkillVersion(trx, { id, skillId: skill.id, content, note, createdAt: now() });
      if (isDefault || defaultVersionId === null) await updateSkill(trx, skill.id, { defaultVersionId: id }, now());
      return { data: { id } };
    }),

  getVersion: async ({ subject: { id, skillId, version, content, note, isDefault, createdAt } }) => ({
    data: { id, skill: { id: skillId }, version, content, note, isDefault, createdAt },
  }),

  deleteVersion: ({ subject: version, write }) =>
    write(async (trx) => {
      const { defaultVersionId } = await lock(trx, version.skillId);
      if (version.id === defaultVersionId) throw new ProblemError('DEFAULT_VERSION');
      await deleteSkillVersion(trx, version.id);
    }),
});

/** Locks the skill, which may have been deleted since the subject was loaded. */
async function lock(trx: Writer, id: string): Promise<{ defaultVersionId: string | null }> {
  const skill = await lockSkill(trx, id);
  if (skill === undefined) throw new ProblemError('NOT_FOUND');
  return skill;
}

const toSummary = ({ id, name, description, defaultVersionId, createdAt, updatedAt }: SkillSummary) => ({
  id,
  name,
  description,
  default: defaultVersionId === null ? null : { id: defaultVersionId },
  createdAt,
  updatedAt,
});

const toResponse = (skill: StoredSkill) => ({
  ...toSummary(skill),
  metadata: skill.metadata,
  allowedTools: skill.allowedTools,
  license: skill.license,
});
