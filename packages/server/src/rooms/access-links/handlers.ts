import { type Contract, PROJECT_ROLES, type ProjectRole } from '@review/contract';
import { seal, unseal } from '../../config/seal.ts';
import { newUuid } from '../../db/ids.ts';
import { now, secondsFromNow } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import type { Caller } from '../../request/caller.ts';
import { cursors } from '../../request/cursors.ts';
import { ProblemError } from '../../request/problem.ts';
import type { Handlers } from '../handler.ts';
import { lockProject } from '../visibility.ts';
import { hashAccessKey, hashesOf, newAccessKey } from './access-key.ts';
import {
  deleteAccessLink,
  findMembership,
  grantRole,
  insertAccessLink,
  listAccessLinks,
  lockOpenLink,
  type StoredLink,
} from './queries.ts';

export const accessLinks = ({ db, secrets }: Deps): Handlers<Contract['accessLinks']> => {
  const toResponse = (caller: Caller, link: StoredLink) => ({
    id: link.id,
    accessKey: caller.scopes.has('access-links:read.key')
      ? unseal(secrets.accessLinks, link.id, link.sealed_key)
      : null,
    description: link.description,
    role: link.link_role,
    createdAt: link.created_at,
  });

  return {
    async list({ caller, subject: project, body: { next, prev } }) {
      const pages = cursors(secrets.cursor, 'access-links', { project: project.id });
      const page = { direction: 'desc', from: pages.position({ next, prev }) } as const;
      return pages.answer(await listAccessLinks(db, page, { projectId: project.id }, {}), (link) => ({
        ...toResponse(caller, link),
        expiresAt: link.expires_at,
      }));
    },

    create: ({ subject: project, body, write }) =>
      write(async (trx) => {
        const { role, description = null, expiresAt = null } = body;
        if (expiresAt !== null && expiresAt <= secondsFromNow(0)) throw alreadyExpired();
        const [id, key] = [newUuid(), newAccessKey()];
        await insertAccessLink(trx, {
          id,
          project_id: project.id,
          role,
          description,
          key_hash: hashAccessKey(secrets.accessLinkHashes[0], key),
          sealed_key: seal(secrets.accessLinks, id, key),
          created_at: now(),
          expires_at: expiresAt,
        });
        return {
          answer: { data: { id } },
          events: [{ type: 'link.created', projectId: project.id, subjectId: id, data: { role } }],
        };
      }),

    get: async ({ caller, subject: link }) => ({ data: toResponse(caller, link) }),

    delete: ({ subject: link, write }) =>
      write(async (trx) => {
        await deleteAccessLink(trx, link.id);
        return {
          answer: undefined,
          events: [{ type: 'link.deleted', projectId: link.project_id, subjectId: link.id, data: {} }],
        };
      }),

    redeem: ({ caller, body, write }) =>
      write(async (trx) => {
        const hashes = hashesOf(secrets.accessLinkHashes, body.accessKey);
        const link = await lockOpenLink(trx, caller.workspaceId, hashes, secondsFromNow(0));
        if (link === undefined) throw new ProblemError('NOT_FOUND');
        if (link.deletes_at !== null) throw new ProblemError('PROJECT_DELETING');
        // Without the lock, a concurrent removal of the member would be undone.
        await lockProject(trx, link.project_id);
        const {
          member_id: id,
          role,
          decided_at: decidedAt,
        } = await findMembership(trx, {
          projectId: link.project_id,
          userId: caller.userId,
        });
        if (decidedAt !== null && decidedAt >= link.created_at) {
          if (id === null) throw new ProblemError('NOT_FOUND');
          return { answer: { data: { id } }, events: [] };
        }
        const member = {
          id: newUuid(),
          project_id: link.project_id,
          user_id: caller.userId,
          role: link.link_role,
          created_at: now(),
        };
        const memberId = await grantRole(trx, member, noStrongerThan(link.link_role));
        const answer = { data: { id: memberId } };
        if (role !== null && !isWeaker(role, link.link_role)) return { answer, events: [] };
        const [projectId, user] = [link.project_id, { id: caller.userId }];
        const change = role === null ? 'member.added' : 'member.changed';
        return {
          answer,
          events: [
            { type: 'link.redeemed', projectId, subjectId: link.id, data: { user } },
            { type: change, projectId, subjectId: memberId, data: { user, role: link.link_role } },
          ],
        };
      }),
  };
};

const isWeaker = (role: ProjectRole, than: ProjectRole) => PROJECT_ROLES.indexOf(role) > PROJECT_ROLES.indexOf(than);

const noStrongerThan = (role: ProjectRole) => PROJECT_ROLES.slice(PROJECT_ROLES.indexOf(role));

const alreadyExpired = () =>
  new ProblemError('INVALID_REQUEST', {
    detail: '1 field is not valid.',
    errors: [{ pointer: '/expiresAt', code: 'IN_THE_PAST', message: 'Must be in the future.' }],
  });
