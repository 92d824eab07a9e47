import type { NewUpload, UploadedParts, UploadPart } from '@review/contract';
import type { CallOptions } from './call.ts';
import type { Client } from './client.ts';

/** What an upload becomes: a file of a project, a reference for generations, or an attachment of a new comment. */
export type UploadTarget =
  | { project: string; kind?: 'file' }
  | { project: string; kind: 'generation' }
  | { project: string; kind: 'comment' }
  | { file: string; kind: 'comment' };

interface Steps {
  start: (
    body: NewUpload & { folder?: { id: string } | null },
    options: CallOptions,
  ) => Promise<{ data: { id: string; parts: UploadPart[] } }>;
  complete: (id: string, body: UploadedParts, options: CallOptions) => Promise<void>;
  cancel: (id: string) => Promise<void>;
}

/** Returns the calls for an upload to the target. */
export function stepsOf({ files, attachments }: Client, to: UploadTarget): Steps {
  switch (to.kind) {
    case 'comment':
      return {
        start: (body, options) =>
          'file' in to
            ? attachments.startOnFile({ params: { id: to.file }, body }, options)
            : attachments.start({ params: { id: to.project }, body }, options),
        complete: (id, body, options) => attachments.complete({ params: { id }, body }, options),
        cancel: (id) => attachments.cancel({ params: { id } }),
      };
    case 'generation':
      return {
        start: (body, options) => attachments.startForGeneration({ params: { id: to.project }, body }, options),
        complete: (id, body, options) => attachments.completeForGeneration({ params: { id }, body }, options),
        cancel: (id) => attachments.cancelForGeneration({ params: { id } }),
      };
    default:
      return {
        start: (body, options) => files.startUpload({ params: { id: to.project }, body }, options),
        complete: (id, body, options) => files.completeUpload({ params: { id }, body }, options),
        cancel: (id) => files.cancel({ params: { id } }),
      };
  }
}
