import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { list, map } from './collections.ts';
import { created, data, NO_BODY, QUERY, room } from './endpoint.ts';
import { reference, SkillId, SkillVersionId } from './ids.ts';
import { cursorPage, cursorQuery } from './paging.ts';
import { text } from './text.ts';
import { Timestamp } from './time.ts';

/** 200,000 characters of four bytes fit into the general body limit. */
const SkillContent = text({ min: 1, max: 200_000 });
const SkillName = text({ min: 1, max: 100 });
const SkillDescription = text({ min: 1, max: 1024 });
const optionalFields = {
  metadata: map(text({ max: 64 }), text({ max: 512 }), { max: 50 })
    .nullable()
    .optional()
    .describe('Names and values for programs; null removes all of them.'),
  allowedTools: list(text({ max: 128 }), { max: 100 })
    .nullable()
    .optional()
    .describe('Tools that the skill may use; null removes the list.'),
  license: text({ max: 1024 }).nullable().optional().describe('The license of the skill; null removes it.'),
};

export const Skill = z.object({
  id: SkillId,
  name: z.string(),
  description: z.string(),
  metadata: z.record(z.string(), z.string()).nullable(),
  allowedTools: z.array(z.string()).nullable(),
  license: z.string().nullable(),
  /** Null until a version is published. */
  default: z.object({ id: SkillVersionId }).nullable(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Skill = z.infer<typeof Skill>;

/** A skill in a list. Get Skill returns the other fields, and a version the content. */
export const ListedSkill = Skill.omit({ metadata: true, allowedTools: true, license: true }).meta({
  id: 'ListedSkill',
});
export type ListedSkill = z.infer<typeof ListedSkill>;

export const SkillVersion = z
  .object({
    id: SkillVersionId,
    skill: z.object({ id: SkillId }),
    /** Counts from 1 within the skill. */
    version: z.number().int(),
    content: z.string(),
    note: z.string().nullable(),
    isDefault: z.boolean(),
    createdAt: Timestamp,
  })
  .meta({ id: 'SkillVersion' });
export type SkillVersion = z.infer<typeof SkillVersion>;

export const SkillDetails = Skill.extend({
  versions: z.array(SkillVersion.omit({ skill: true, content: true })),
}).meta({ id: 'Skill' });
export type SkillDetails = z.infer<typeof SkillDetails>;

export const NewSkillVersion = z.strictObject({
  content: SkillContent.describe('The instructions, in Markdown.'),
  note: text({ min: 1, max: 1024 }).optional().describe('What changed.'),
  isDefault: z.boolean().optional().describe('Whether it becomes the default version; the first version always does.'),
});
export type NewSkillVersion = z.infer<typeof NewSkillVersion>;

/** Accepts `markdown` as an alias of `content`, for compatible clients. */
const withMarkdown = z.preprocess((body: z.input<typeof NewSkillVersion>, { issues }) => {
  if (typeof body !== 'object' || body === null || !('markdown' in body)) return body;
  const { markdown, ...rest }: { markdown: unknown; content?: unknown } = body;
  if ('content' in rest && rest.content !== markdown) {
    const message = 'Send only one of content and markdown.';
    issues.push({ code: 'custom', params: { code: 'BOTH_CONTENTS' }, message, path: ['markdown'], input: body });
  }
  return { content: markdown, ...rest };
}, NewSkillVersion);

/** Skills belong to the workspace, and only projects have events. */
const NO_EVENTS = [] as const;

export const skills = room({
  list: {
    method: QUERY,
    path: '/api/skills',
    summary: 'List the skills of the workspace, page by page, newest first',
    body: cursorQuery({}),
    responses: { 200: cursorPage(ListedSkill) },
    metadata: { tool: 'list_skills', tier: 'default', scopes: ['skills:read'], subject: null, roles: [] },
  },
  create: {
    method: 'POST',
    path: '/api/skills',
    summary: 'Create a skill; its content comes with its first version',
    body: z.strictObject({ name: SkillName, description: SkillDescription, ...optionalFields }),
    responses: { 201: created(SkillId) },
    metadata: {
      events: NO_EVENTS,
      tier: 'tier-3',
      scopes: ['skills:write'],
      subject: null,
      roles: [],
      location: '/api/skills/:id',
    },
  },
  get: {
    method: 'GET',
    path: '/api/skills/:id',
    summary: 'Read a skill and the list of its versions',
    responses: { 200: data(SkillDetails) },
    metadata: {
      tool: 'get_skill',
      tier: 'default',
      scopes: ['skills:read'],
      subject: 'skill',
      roles: [],
      conditional: true,
    },
  },
  update: {
    method: 'PATCH',
    path: '/api/skills/:id',
    summary: 'Change a skill or choose its default version',
    body: z.strictObject({
      name: SkillName.optional().describe('A new name.'),
      description: SkillDescription.optional().describe('What the skill is for, and when to use it.'),
      ...optionalFields,
      default: reference(SkillVersionId).optional().describe('The version that becomes the default.'),
    }),
    responses: { 204: NO_BODY },
    metadata: {
      events: NO_EVENTS,
      ifMatch: true,
      tool: 'update_skill',
      tier: 'default',
      scopes: ['skills:write'],
      subject: 'skill',
      roles: [],
      problems: ['REFERENCE_NOT_FOUND'],
    },
  },
  delete: {
    method: 'DELETE',
    path: '/api/skills/:id',
    summary: 'Delete a skill and all its versions',
    responses: { 204: NO_BODY },
    metadata: { events: NO_EVENTS, tier: 'tier-3', scopes: ['skills:write'], subject: 'skill', roles: [] },
  },
  export: {
    method: 'GET',
    path: '/api/skills/:id/export',
    summary: 'Export the default version of a skill as an Agent Skills `SKILL.md`',
    responses: { 200: initContract().otherResponse({ contentType: 'text/markdown', body: z.string() }) },
    metadata: { tier: 'default', scopes: ['skills:read'], subject: 'skill', roles: [] },
  },
  publish: {
    method: 'POST',
    path: '/api/skills/:id/versions',
    summary: 'Publish a version of a skill; the first one becomes the default',
    description: '`markdown` is an alias of `content`.',
    body: withMarkdown,
    responses: { 201: created(SkillVersionId) },
    metadata: {
      events: NO_EVENTS,
      tool: 'publish_skill_version',
      location: '/api/skill-versions/:id',
      tier: 'tier-3',
      scopes: ['skills:write'],
      subject: 'skill',
      roles: [],
    },
  },
  getVersion: {
    method: 'GET',
    path: '/api/skill-versions/:id',
    summary: 'Read a version of a skill with its content',
    responses: { 200: data(SkillVersion) },
    metadata: { tier: 'default', scopes: ['skills:read'], subject: 'skill-version', roles: [] },
  },
  deleteVersion: {
    method: 'DELETE',
    path: '/api/skill-versions/:id',
    summary: 'Delete a version of a skill that is not the default',
    responses: { 204: NO_BODY },
    metadata: {
      events: NO_EVENTS,
      tier: 'tier-3',
      scopes: ['skills:write'],
      subject: 'skill-version',
      roles: [],
      problems: ['DEFAULT_VERSION'],
    },
  },
});
