import { type Contract, LEADS, type ProjectRole } from '@review/contract';
import { newUuid } from '../../db/ids.ts';
import type { Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { cursors } from '../../request/cursors.ts';
import { ProblemError, referenceNotFound } from '../../request/problem.ts';
import { givenFields } from '../events/given-fields.ts';
import { findFilesOf } from '../files/queries.ts';
import type { Handlers } from '../handler.ts';
import { findVersionThumbnail } from '../media/queries.ts';
import { thumbnailUrl } from '../media/urls.ts';
import { isRestricted } from '../visibility.ts';
import {
  insertVersion,
  type ListedVersion,
  listVersionFiles,
  listVersions,
  listVisibleVersions,
  lockFiles,
  replaceVersionFiles,
  updateStatus,
  updateVersion,
} from './queries.ts';

export const versions = ({ db, secrets, storage }: Deps): Handlers<Contract['versions']> => ({
  async listMine({ caller: { userId, workspaceId }, body: { status, next, prev } }) {
    const pages = cursors(secrets.cursor, 'versions', { userId, status });
    const page = { direction: 'desc', from: pages.position({ next, prev }) } as const;
    const found = await listVisibleVersions(db, page, { userId, workspaceId, status }, {});
    return pages.answer(found, (version) => ({
      ...toResponse(version, version.project_id),
      project: { id: version.project_id, name: version.project_name },
      role: version.role,
      files: { count: version.file_count ?? 0 },
    }));
  },

  async list({ subject: project, query }) {
    const { page, 'sort.type': sort, 'sort.direction': direction } = query;
    const { items, hasNext } = await listVersions(
      db,
      { projectId: project.id, page },
      { restricted: isRestricted(project.role), sort, direction },
    );
    return { data: items.map((version) => toResponse(version, project.id)), page: { current: page, hasNext } };
  },

  create: ({ subject: project, body, write }) =>
    write(async (trx) => {
      const { name, description = null, allowRestricted = false, files = [] } = body;
      const id = newUuid();
      const fields = { name, description, allow_restricted: Number(allowRestricted) };
      await insertVersion(trx, { id, project_id: project.id, ...fields, created_at: now() });
      await setVersionFiles(trx, id, project, files);
      return {
        answer: { data: { id } },
        events: [{ type: 'version.created', projectId: project.id, subjectId: id, data: {} }],
      };
    }),

  async get({ caller, subject: version }) {
    const files = await listVersionFiles(db, version.id, version.role);
    const key = caller.scopes.has('files:read')
      ? await findVersionThumbnail(db, { versionId: version.id }, isRestricted(version.role))
      : null;
    return {
      data: {
        ...toResponse(version, version.project_id),
        allowRestricted: version.allow_restricted === 1,
        files: files.map((id) => ({ id })),
        thumbnailUrl: await thumbnailUrl(storage, key),
      },
    };
  },

  update: ({ subject: version, body, write }) =>
    write(async (trx) => {
      const { name, description, allowRestricted, files } = body;
      const restriction = allowRestricted !== undefined && { allow_restricted: Number(allowRestricted) };
      await updateVersion(trx, version.id, { name, description, ...restriction }, now());
      const project = { id: version.project_id, role: version.role };
      if (files !== undefined) await setVersionFiles(trx, version.id, project, files);
      const changed = givenFields(body, 'name', 'description', 'allowRestricted', 'files');
      return {
        answer: undefined,
        events: [{ type: 'version.updated', projectId: project.id, subjectId: version.id, data: { changed } }],
      };
    }),

  setStatus: ({ subject: version, body: { status }, write }) =>
    write(async (trx) => {
      const leads: readonly ProjectRole[] = LEADS;
      const mayReopen = leads.includes(version.role);
      if (!(await updateStatus(trx, version.id, status, mayReopen, now()))) {
        throw new ProblemError('INSUFFICIENT_ROLE', {
          detail: 'Only an owner or manager can reopen a closed version.',
        });
      }
      const data = { status };
      return {
        answer: undefined,
        events: [{ type: 'version.status.changed', projectId: version.project_id, subjectId: version.id, data }],
      };
    }),
});

async function setVersionFiles(
  trx: Writer,
  versionId: string,
  project: { id: string; role: ProjectRole },
  files: { id: string }[],
): Promise<void> {
  const ids = files.map(({ id }) => id);
  await lockFiles(trx, ids);
  const known = await findFilesOf(trx, project, ids);
  const unknown = ids.flatMap((id, index) => (known.has(id) ? [] : [`/files/${index}/id`]));
  if (unknown.length > 0) throw referenceNotFound(...unknown);
  await replaceVersionFiles(trx, versionId, ids);
}

const toResponse = (version: ListedVersion, projectId: string) => ({
  id: version.id,
  name: version.name,
  description: version.description,
  status: version.status,
  createdAt: version.created_at,
  updatedAt: version.updated_at,
  project: { id: projectId },
});
