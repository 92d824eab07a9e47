import type { Contract, NewUpload } from '@review/contract';
import type { Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import type { Caller } from '../../request/caller.ts';
import { ProblemError } from '../../request/problem.ts';
import type { Handlers } from '../handler.ts';
import { createDownload } from '../uploads/download.ts';
import { abortDropped } from '../uploads/drop.ts';
import { dropUnusedUpload, findUpload, type PendingBlobDeletion } from '../uploads/queries.ts';
import { completeUpload, startUpload } from '../uploads/upload.ts';

export const attachments = (deps: Deps): Handlers<Contract['attachments']> => {
  const asked = (prefix: 'CA' | 'GA', caller: Caller, projectId: string, body: NewUpload) => ({
    prefix,
    projectId,
    startedBy: caller.userId,
    asked: body,
  });
  return {
    start: async ({ caller, subject: project, body, write }) => ({
      data: await startUpload(deps, write, asked('CA', caller, project.id, body)),
    }),

    startOnFile: async ({ caller, subject: file, body, write }) => ({
      data: await startUpload(deps, write, asked('CA', caller, file.project_id, body)),
    }),

    startForGeneration: async ({ caller, subject: project, body, write }) => ({
      data: await startUpload(deps, write, asked('GA', caller, project.id, body)),
    }),

    async complete({ subject: attachment, body, write }) {
      await completeUpload(deps, write, attachment.id, body);
    },

    async completeForGeneration({ subject: attachment, body, write }) {
      await completeUpload(deps, write, attachment.id, body);
    },

    async cancel({ subject: attachment, write }) {
      await abortDropped(deps, await write(async (trx) => ({ answer: await drop(trx, attachment.id), events: [] })));
    },

    async cancelForGeneration({ subject: attachment, write }) {
      await abortDropped(deps, await write(async (trx) => ({ answer: await drop(trx, attachment.id), events: [] })));
    },

    async download({ subject: attachment }) {
      if (attachment.completed_with === null) throw new ProblemError('FILE_NOT_READY');
      return { data: await createDownload(deps.storage, attachment.storage_key, attachment) };
    },
  };
};

/** Checks the use of the attachment in the transaction, because a comment may attach it concurrently. */
async function drop(trx: Writer, id: string): Promise<PendingBlobDeletion[]> {
  const dropped = await dropUnusedUpload(trx, id, now());
  if (dropped.length > 0) return dropped;
  throw new ProblemError((await findUpload(trx, id)) === undefined ? 'NOT_FOUND' : 'UPLOAD_COMPLETED');
}
