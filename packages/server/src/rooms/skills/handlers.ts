import type { Contract } from '@review/contract';
import { newId } from '../../db/ids.ts';
import { parseJson } from '../../db/json.ts';
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

export const skills = ({ db, secrets }: Deps): Handlers<Contract['skills']> => ({
  async list({ caller: { workspaceId }, body }) {
    const pages = cursors(secrets.cursor, 'skills', { workspaceId });
    const page = { direction: 'desc', from: pages.position(body) } as const;
    return pages.answer(await listSkills(db, page, { workspaceId }, {}), toSummary);
  },

  create: ({ caller, body, write }) =>
    write(async (trx) => {
      const { name, description, metadata = null, allowedTools = null, license = null } = body;
      const [id, at] = [newId('SK'), now()];
      await insertSkill(trx, {
        id,
        workspace_id: caller.workspaceId,
        name,
        description,
        metadata: metadata && JSON.stringify(metadata),
        allowed_tools: allowedTools && JSON.stringify(allowedTools),
        license,
        created_at: at,
        updated_at: at,
      });
      return { answer: { data: { id } }, events: [] };
    }),

  async get({ subject: skill }) {
    const versions = await listSkillVersions(db, skill.id);
    const marked = versions.map(({ id, version, note, created_at: createdAt }) => ({
      id,
      version,
      note,
      createdAt,
      isDefault: id === skill.default_version_id,
    }));
    return { data: { ...toResponse(skill), versions: marked } };
  },

  update: ({ subject: skill, body, write }) =>
    write(async (trx) => {
      const { name, description, metadata, allowedTools, license, default: chosen } = body;
      await lock(trx, skill.id);
      if (chosen && !(await isVersionOf(trx, { skillId: skill.id, id: chosen.id })))
        throw referenceNotFound('/default/id');
      await updateSkill(trx, {
        id: skill.id,
        name,
        description,
        metadata: metadata && JSON.stringify(metadata),
        allowed_tools: allowedTools && JSON.stringify(allowedTools),
        license,
        default_version_id: chosen?.id,
        updated_at: now(),
      });
      return { answer: undefined, events: [] };
    }),

  delete: ({ subject: skill, write }) =>
    write(async (trx) => ({ answer: await deleteSkill(trx, skill.id), events: [] })),

  async export({ subject: skill }) {
    const { default_version_id: versionId } = skill;
    const content = versionId === null ? undefined : await findContent(db, versionId);
    if (content === undefined)
      throw new ProblemError('NOT_FOUND', { detail: 'The skill has no published version. Publish one first.' });
    // Imported when needed: the 70 modules of its YAML library would delay the start of the server.
    const { skillMd } = await import('./skill-md.ts');
    return skillMd(skill, content);
  },

  publish: ({ subject: skill, body, write }) =>
    write(async (trx) => {
      const { content, note = null, isDefault = false } = body;
      const current = await lock(trx, skill.id);
      const [id, at] = [newId('SV'), now()];
      await insertSkillVersion(trx, { id, skill_id: skill.id, content, note, created_at: at });
      if (isDefault || current.default_version_id === null) {
        await updateSkill(trx, { id: skill.id, default_version_id: id, updated_at: at });
      }
      return { answer: { data: { id } }, events: [] };
    }),

  getVersion: async ({ subject: version }) => ({
    data: {
      id: version.id,
      skill: { id: version.skill_id },
      version: version.version,
      content: version.content,
      note: version.note,
      isDefault: version.id === version.default_version_id,
      createdAt: version.created_at,
    },
  }),

  deleteVersion: ({ subject: version, write }) =>
    write(async (trx) => {
      const skill = await lock(trx, version.skill_id);
      if (version.id === skill.default_version_id) throw new ProblemError('DEFAULT_VERSION');
      return { answer: await deleteSkillVersion(trx, version.id), events: [] };
    }),
});

/** Locks the skill, which may have been deleted since the subject was loaded. */
async function lock(trx: Writer, id: string): Promise<StoredSkill> {
  const skill = await lockSkill(trx, id);
  if (skill === undefined) throw new ProblemError('NOT_FOUND');
  return skill;
}

const toSummary = (skill: SkillSummary) => ({
  id: skill.id,
  name: skill.name,
  description: skill.description,
  default: skill.default_version_id === null ? null : { id: skill.default_version_id },
  createdAt: skill.created_at,
  updatedAt: skill.updated_at,
});

const toResponse = (skill: StoredSkill) => ({
  ...toSummary(skill),
  metadata: parseJson(skill.metadata),
  allowedTools: parseJson(skill.allowed_tools),
  license: skill.license,
});
