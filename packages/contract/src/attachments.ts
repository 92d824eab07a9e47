import { ANY_MEMBER, EDITORS } from './access.ts';
import { data, NO_BODY, room } from './endpoint.ts';
import { CommentAttachmentId, GenerationAttachmentId } from './ids.ts';
import { Download, NewUpload, PARTS_BODY_LIMIT, startedUpload, UploadedParts } from './upload.ts';

/** No location: an attachment is read through the comment or the generation that uses it. */
const starting = { tier: 'tier-3', location: null } as const;

export const attachments = room({
  start: {
    method: 'POST',
    path: '/api/projects/:id/comment-attachments/upload.multipart',
    summary: 'Start the upload of an attachment for a comment on a project',
    body: NewUpload,
    responses: { 201: startedUpload(CommentAttachmentId) },
    metadata: { ...starting, scopes: ['comments:write'], subject: 'project', roles: ANY_MEMBER },
  },
  startOnFile: {
    method: 'POST',
    path: '/api/files/:id/comment-attachments/upload.multipart',
    summary: 'Start the upload of an attachment for a comment on a file',
    body: NewUpload,
    responses: { 201: startedUpload(CommentAttachmentId) },
    metadata: { ...starting, scopes: ['comments:write'], subject: 'file', roles: ANY_MEMBER },
  },
  complete: {
    method: 'POST',
    path: '/api/comment-attachments/:id/upload.complete',
    summary: 'Complete the upload of a comment attachment',
    body: UploadedParts,
    responses: { 204: NO_BODY },
    metadata: {
      tier: 'tier-3',
      scopes: [],
      subject: 'comment-attachment',
      roles: ANY_MEMBER,
      only: 'starter',
      bodyLimit: PARTS_BODY_LIMIT,
      problems: ['PARTS_MISMATCH', 'UPLOAD_COMPLETED'],
    },
  },
  cancel: {
    method: 'POST',
    path: '/api/comment-attachments/:id/upload.cancel',
    summary: 'Delete a comment attachment that no comment uses',
    body: NO_BODY,
    responses: { 204: NO_BODY },
    metadata: {
      tier: 'tier-3',
      scopes: [],
      subject: 'comment-attachment',
      roles: ANY_MEMBER,
      only: 'starter',
      problems: ['UPLOAD_COMPLETED'],
    },
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
    method: 'POST',
    path: '/api/projects/:id/generation-attachments/upload.multipart',
    summary: 'Start the upload of a reference for a generation',
    body: NewUpload,
    responses: { 201: startedUpload(GenerationAttachmentId) },
    metadata: { ...starting, scopes: ['ai:generate'], subject: 'project', roles: EDITORS },
  },
  completeForGeneration: {
    method: 'POST',
    path: '/api/generation-attachments/:id/upload.complete',
    summary: 'Complete the upload of a generation attachment',
    body: UploadedParts,
    responses: { 204: NO_BODY },
    metadata: {
      tier: 'tier-3',
      scopes: [],
      subject: 'generation-attachment',
      roles: ANY_MEMBER,
      only: 'starter',
      bodyLimit: PARTS_BODY_LIMIT,
      problems: ['PARTS_MISMATCH', 'UPLOAD_COMPLETED'],
    },
  },
  cancelForGeneration: {
    method: 'POST',
    path: '/api/generation-attachments/:id/upload.cancel',
    summary: 'Delete a generation attachment that no generation uses',
    body: NO_BODY,
    responses: { 204: NO_BODY },
    metadata: {
      tier: 'tier-3',
      scopes: [],
      subject: 'generation-attachment',
      roles: ANY_MEMBER,
      only: 'starter',
      problems: ['UPLOAD_COMPLETED'],
    },
  },
});
