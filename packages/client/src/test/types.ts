import type { CommentRecord, FileDetails, Folder, ProblemCode, Project, Version } from '@review/contract';
import { expectTypeOf } from 'vitest';
import type { CallOptions, Client, EventsReset, UploadState } from '../index.ts';
import { ApiProblem, createClient, download, downloadStream, generate, items, pages, upload } from '../index.ts';

/** Nothing here is executed: `tsc`, as part of the lint, checks the types that a caller sees. */
const client = createClient({ baseUrl: 'https://review.example.com', token: async () => 'key' });
const params = { id: 'x' };

export function answersTheBodyOfItsSuccessAndNothingElse() {
  expectTypeOf(client.files.get).returns.toEqualTypeOf<Promise<{ data: FileDetails }>>();
  expectTypeOf(client.folders.create).returns.toEqualTypeOf<Promise<{ data: { id: string } }>>();
  expectTypeOf(client.folders.list).returns.toEqualTypeOf<Promise<{ data: Folder[] }>>();
  expectTypeOf(client.files.delete).returns.toEqualTypeOf<Promise<void>>();
  expectTypeOf(client.skills.export).returns.toEqualTypeOf<Promise<string>>();
}

export function takesExactlyWhatItsRouteHas() {
  expectTypeOf(client.files.delete).parameters.toEqualTypeOf<
    [request: { params: { id: string }; query?: { trashed?: 'true' | 'false' | undefined } }, options?: CallOptions]
  >();
  expectTypeOf(client.versions.setStatus)
    .parameter(0)
    .toEqualTypeOf<{ params: { id: string }; body: { status: Version['status'] } }>();
  expectTypeOf(client.folders.create)
    .parameter(0)
    .toEqualTypeOf<{ params: { id: string }; body: { name: string; parent?: { id: string } | null | undefined } }>();
}

export function needsNoRequestWhereEverythingIsOptional() {
  expectTypeOf(client.ping.ping).toBeCallableWith();
  expectTypeOf(client.projects.list).toBeCallableWith();
  expectTypeOf(client.models.list).toBeCallableWith({ query: { outputType: 'VIDEO' } }, { timeoutMs: 1000 });
  expectTypeOf(client.files.get).toBeCallableWith({ params });
  expectTypeOf(client.comments.list).toBeCallableWith({ params });
  expectTypeOf(client.reactions.delete).toBeCallableWith({ params, query: { type: '👍' } });
}

export function everyRoomIsThereUnderItsName() {
  expectTypeOf<keyof Client>().toEqualTypeOf<
    | 'ping'
    | 'projects'
    | 'files'
    | 'generation'
    | 'models'
    | 'folders'
    | 'versions'
    | 'webhooks'
    | 'members'
    | 'comments'
    | 'reactions'
    | 'search'
    | 'attachments'
    | 'accessLinks'
    | 'skills'
    | 'events'
  >();
}

export async function eventsAreTypedByTheirType() {
  for await (const event of client.events('id', { after: '1' })) {
    if (event.type === 'reset') expectTypeOf(event).toEqualTypeOf<EventsReset>();
    if (event.type === 'comment.created') expectTypeOf(event.data.parent).toEqualTypeOf<{ id: string } | null>();
  }
  expectTypeOf(client.events.list).toBeCallableWith({ params, body: { types: ['file.created'] } });
}

export function aProblemIsTyped() {
  expectTypeOf<ApiProblem['code']>().toEqualTypeOf<ProblemCode>();
  expectTypeOf<ApiProblem['retryAfter']>().toEqualTypeOf<number | null>();
  expectTypeOf(ApiProblem).instance.toExtend<Error>();
}

export function iteratorsKnowTheirItemsAndPages() {
  expectTypeOf(items(client.comments.listOnFile, { params, body: { resolved: false } })).toEqualTypeOf<
    AsyncGenerator<CommentRecord, void>
  >();
  expectTypeOf(items(client.projects.list, { body: { keyword: 'film' } })).toEqualTypeOf<
    AsyncGenerator<Project, void>
  >();
  expectTypeOf(items(client.versions.list, { params, query: { 'sort.type': 'name' } })).toEqualTypeOf<
    AsyncGenerator<Version, void>
  >();
  type PageOf<T> = T extends AsyncGenerator<infer Page, void> ? Page : never;
  const numbered = pages(client.versions.list, { params });
  expectTypeOf<PageOf<typeof numbered>['page']>().toEqualTypeOf<{ current: number; hasNext: boolean }>();
  const cursors = pages(client.files.list, { params });
  expectTypeOf<PageOf<typeof cursors>['page']>().toEqualTypeOf<{ next: string | null; prev: string | null }>();
}

export function generationsUploadsAndDownloadsAreTyped() {
  expectTypeOf(generate).returns.toEqualTypeOf<Promise<FileDetails>>();
  expectTypeOf(upload).returns.toEqualTypeOf<Promise<{ id: string }>>();
  expectTypeOf(downloadStream).returns.resolves.toExtend<ReadableStream<Uint8Array>>();
  const toPath = () => download(client, 'FX1', { to: 'x.mp4' });
  const toMemory = () => download(client, 'FX1');
  expectTypeOf(toPath).returns.toEqualTypeOf<Promise<void>>();
  expectTypeOf(toMemory).returns.toEqualTypeOf<Promise<Blob>>();
  expectTypeOf<UploadState>().toExtend<{ key: string; id: string | null; size: number }>();
}
