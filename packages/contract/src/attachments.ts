import { ANY_MEMBER, EDITORS } from './access.ts';
import { data, room } from './endpoint.ts';
import { CommentAttachmentId, GenerationAttachmentId } from './ids.ts';
import { canceling, completing, Download, starting } from './upload.ts';

/** No location: an attachment is read through the comment or the generation that uses it. */
const location = null;
/** Only the user who uploads an attachment can see it, until a comment or a generation uses it. */
const NO_EVENTS = [] as const;
const commenting = { events: NO_EVENTS, scopes: ['comments:write'], roles: ANY_MEMBER, location } as const;

export const attachments = room({
  start: {
    path: '/api/projects/:id/comment-attachments/upload.multipart',
    summary: 'Start the upload of an attachment for a comment on a project',
    ...starting(CommentAttachmentId, { ...commenting, subject: 'project' }),
  },
  startOnFile: {
    path: '/api/files/:id/comment-attachments/upload.multipart',
    summary: 'Start the upload of an attachment for a comment on a file',
    ...starting(CommentAttachmentId, { ...commenting, subject: 'file' }),
  },
  complete: {
    path: '/api/comment-attachments/:id/upload.complete',
    summary: 'Complete the upload of a comment attachment',
    ...completing('comment-attachment', NO_EVENTS),
  },
  cancel: {
    path: '/api/comment-attachments/:id/upload.cancel',
    summary: 'Delete a comment attachment that no comment uses',
    ...canceling('comment-attachment'),
  },
  download: {
    method: 'GET',
    path: '/api/comment-attachments/:id/download',
    summary: 'Get a signed URL of the content of a comment attachment',
    responses: { 200: data(Download) },
    metadata: {
      tier: 'tier-4',
      scopes: ['comments:download'],
      subject: 'comment-attachment',
      roles: ANY_MEMBER,
      problems: ['FILE_NOT_READY'],
    },
  },
  startForGeneration: {
    path: '/api/projects/:id/generation-attachments/upload.multipart',
    summary: 'Start the upload of a reference for a generation',
    ...starting(GenerationAttachmentId, {
      events: NO_EVENTS,
      scopes: ['ai:generate'],
      subject: 'project',
      roles: EDITORS,
      location,
    }),
  },
  completeForGeneration: {
    path: '/api/generation-attachments/:id/upload.complete',
    summary: 'Complete the upload of a generation attachment',
    ...completing('generation-attachment', NO_EVENTS),
  },
  cancelForGeneration: {
    path: '/api/generation-attachments/:id/upload.cancel',
    summary: 'Delete a generation attachment that no generation uses',
    ...canceling('generation-attachment'),
  },
});
