import type { Contract, NewUpload } from '@review/contract';
import { now } from '../db/time.ts';
import type { Deps } from '../deps.ts';
import { isUsedByGeneration } from '../generation/queries.ts';
import type { Caller } from '../http/authenticate.ts';
import type { Handlers } from '../http/handler.ts';
import { ProblemError } from '../http/problem.ts';
import { downloadOf } from '../uploads/download.ts';
import { dropUploads } from '../uploads/queries.ts';
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
      data: await startUpload(deps, write, asked('CA', caller, file.projectId, body)),
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

    cancel: ({ subject: attachment, write }) =>
      write(async (trx) => {
        if (attachment.commentId !== null) throw new ProblemError('UPLOAD_COMPLETED');
        await dropUploads(trx, [attachment.id], now());
      }),

    cancelForGeneration: ({ subject: attachment, write }) =>
      write(async (trx) => {
        if (await isUsedByGeneration(trx, attachment.id)) throw new ProblemError('UPLOAD_COMPLETED');
        await dropUploads(trx, [attachment.id], now());
      }),

    async download({ subject: attachment }) {
      if (attachment.completedWith === null) throw new ProblemError('FILE_NOT_READY');
      return { data: await downloadOf(deps.storage, attachment.storageKey, attachment) };
    },
  };
};
