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
    accessKey: caller.scopes.has('access-links:read.key') ? unseal(secrets.accessLinks, link.id, link.sealedKey) : null,
    description: link.description,
    role: link.linkRole,
    createdAt: link.createdAt,
  });

  return {
    async list({ caller, subject: project, body: { next, prev } }) {
      const pages = cursors(secrets.cursor, 'access-links', { project: project.id });
      const page = { direction: 'desc', from: pages.position({ next, prev }) } as const;
      return pages.answer(await listAccessLinks(db, project.id, page), (link) => ({
        ...toResponse(caller, link),
        expiresAt: link.expiresAt,
      }));
    },

    create: ({ subject: project, body, write }) =>
      write(async (trx) => {
        const { role: linkRole, description = null, expiresAt = null } = body;
        if (expiresAt !== null && expiresAt <= secondsFromNow(0)) throw alreadyExpired();
        const [id, key] = [newUuid(), newAccessKey()];
        await insertAccessLink(trx, {
          id,
          projectId: project.id,
          linkRole,
          description,
          keyHash: hashAccessKey(secrets.accessLinkHashes[0], key),
          sealedKey: seal(secrets.accessLinks, id, key),
          createdAt: now(),
          expiresAt,
        });
        return { data: { id } };
      }),

    get: async ({ caller, subject: link }) => ({ data: toResponse(caller, link) }),

    delete: ({ subject: link, write }) => write((trx) => deleteAccessLink(trx, link.id)),

    redeem: ({ caller, body, write }) =>
      write(async (trx) => {
        const hashes = hashesOf(secrets.accessLinkHashes, body.accessKey);
        const link = await lockOpenLink(trx, caller.workspaceId, hashes, secondsFromNow(0));
        if (link === undefined) throw new ProblemError('NOT_FOUND');
        if (link.deletesAt !== null) throw new ProblemError('PROJECT_DELETING');
        // Without the lock, a concurrent removal of the member would be undone.
        await lockProject(trx, link.projectId);
        const { memberId, decidedAt } = await findMembership(trx, link.projectId, caller.userId);
        if (decidedAt !== null && decidedAt >= link.createdAt) {
          if (memberId === null) throw new ProblemError('NOT_FOUND');
          return { data: { id: memberId } };
        }
        const member = {
          id: newUuid(),
          projectId: link.projectId,
          userId: caller.userId,
          role: link.linkRole,
          createdAt: now(),
        };
        return { data: { id: await grantRole(trx, member, noStrongerThan(link.linkRole)) } };
      }),
  };
};

const noStrongerThan = (role: ProjectRole) => PROJECT_ROLES.slice(PROJECT_ROLES.indexOf(role));

const alreadyExpired = () =>
  new ProblemError('INVALID_REQUEST', {
    detail: '1 field is not valid.',
    errors: [{ pointer: '/expiresAt', code: 'IN_THE_PAST', message: 'Must be in the future.' }],
  });
