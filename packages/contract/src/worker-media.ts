import { z } from 'zod';
import { data, type Endpoint, NO_BODY } from './endpoint.ts';
import { FileId } from './ids.ts';
import { Filmstrip, FrameRate, MediaError, MediaFacts, MediaKind, MediaStatus, RenditionKind } from './media.ts';
import { NewUpload, UploadedParts, UploadPart } from './upload.ts';
import { Epoch, Message, WorkerName } from './worker-fields.ts';

/** Identifies a rendition of a file: `variant` is the height of a proxy, the number of a page, and 0 for kinds of which a file has one. */
const RenditionName = z.strictObject({ kind: RenditionKind, variant: z.number().int().min(0).max(65_535) });
export type RenditionName = z.infer<typeof RenditionName>;

/** The content of a file whose media is to be read. */
export const MediaTask = z.object({
  kind: MediaKind,
  mimeType: z.string(),
  size: z.number().int(),
  url: z.string(),
  /** What earlier attempts have stored. */
  stored: z.array(RenditionName),
  /** Pages of which pictures were requested. Servers of earlier releases omit it. */
  pages: z.array(z.number().int()).optional(),
  /** The trace of the generation that made the file (W3C Trace Context). Servers of earlier releases omit it. */
  traceparent: z.string().optional(),
});
export type MediaTask = z.infer<typeof MediaTask>;

const NewFacts = MediaFacts.extend({ frameRate: FrameRate.strict().nullable() }).strict();
const Pixels = z.number().int().min(1).max(65_535).nullable();

/** The part of the worker API that reads media and stores renditions. */
export const workerMedia = {
  claimMedia: {
    method: 'POST',
    path: '/worker/media/claim',
    summary: 'Claim files whose media is to be read under a lease; waits if there are none',
    body: z.strictObject({
      /** Workers of earlier releases omit it. */
      worker: WorkerName.optional(),
      most: z.number().int().min(1).max(100),
      wait: z.number().min(0).max(30),
    }),
    responses: { 200: data(z.object({ files: z.array(z.object({ fileId: FileId, epoch: Epoch })) })) },
  },
  startMedia: {
    method: 'POST',
    path: '/worker/media/:id/start',
    summary: 'Start an attempt to read the media of a file',
    /** Null takes the file over from any holder. */
    body: z.strictObject({ epoch: Epoch.nullable() }),
    responses: { 200: data(z.object({ epoch: Epoch, task: MediaTask })) },
  },
  renewMedia: {
    method: 'POST',
    path: '/worker/media/:id/renew',
    summary: 'Renew the lease of a file',
    body: z.strictObject({ epoch: Epoch }),
    responses: { 204: NO_BODY },
  },
  releaseMedia: {
    method: 'POST',
    path: '/worker/media/:id/release',
    summary: 'End an attempt without a result, so that another worker can continue at once; the attempt does not count',
    body: z.strictObject({ epoch: Epoch }),
    responses: { 204: NO_BODY },
  },
  recordFacts: {
    method: 'POST',
    path: '/worker/media/:id/facts',
    summary: 'Record what is known about the content, before its renditions are complete',
    body: z.strictObject({ epoch: Epoch, facts: NewFacts }),
    responses: { 204: NO_BODY },
  },
  startRendition: {
    method: 'POST',
    path: '/worker/media/:id/renditions/upload.multipart',
    summary: 'Start the upload of a rendition; replaces an unfinished upload',
    body: RenditionName.extend({ epoch: Epoch, size: NewUpload.shape.size, mimeType: z.string().max(100) }),
    responses: { 200: data(z.object({ parts: z.array(UploadPart) })) },
  },
  completeRendition: {
    method: 'POST',
    path: '/worker/media/:id/renditions/upload.complete',
    summary: 'Complete the upload of a rendition, which is then shown',
    body: UploadedParts.extend({
      epoch: Epoch,
      ...RenditionName.shape,
      width: Pixels,
      height: Pixels,
      filmstrip: Filmstrip.strict().nullable(),
    }),
    responses: { 204: NO_BODY },
  },
  finishMedia: {
    method: 'POST',
    path: '/worker/media/:id/finish',
    summary:
      'End the reading of the media: it is READY, or FAILED with the reason; READY with a reason if only facts were read',
    body: z.strictObject({
      epoch: Epoch,
      error: MediaError.extend({ message: Message }).strict().nullable(),
      /** Workers of earlier releases omit it: then an error is a failure. */
      status: MediaStatus.exclude(['PENDING']).optional(),
    }),
    responses: { 204: NO_BODY },
  },
} as const satisfies Record<string, Endpoint>;
export type WorkerMedia = typeof workerMedia;
