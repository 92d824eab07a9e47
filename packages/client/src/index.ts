export type {
  Activity,
  CommentRecord,
  EventType,
  FieldError,
  FileDetails,
  FileRecord,
  Folder,
  Generation,
  GenerationError,
  Media,
  ModelRecord,
  ProblemCode,
  Project,
  ProjectEvent,
  Rendition,
  RenditionKind,
  ReviewStatus,
  Version,
} from '@review/contract';
export { backOffMs } from './back-off.ts';
export type { CallOptions } from './call.ts';
export { type Call, type Client, type ClientOptions, createClient, type RequestOf, type ResultOf } from './client.ts';
export { DownloadDamaged, type DownloadOptions, download, downloadStream } from './download.ts';
export type { EventsOptions, EventsReset } from './events.ts';
export { type GenerateOptions, GenerationFailed, generate, type WaitOptions, waitFor } from './generate.ts';
export { items, pages } from './pages.ts';
export { ApiProblem } from './problem.ts';
export type { Source } from './source.ts';
export { type UploadOptions, type UploadState, upload } from './upload.ts';
export type { UploadTarget } from './upload-target.ts';
