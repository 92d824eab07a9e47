import type { CommentRecord, FileRecord, Folder, ProblemCode, Project, Version } from '@review/contract';
import { describe, expectTypeOf, test } from 'vitest';
import type { CallOptions, Client, UploadState } from './index.ts';
import { ApiProblem, createClient, download, downloadStream, generate, items, pages, upload } from './index.ts';

/** Sends nothing: only the types are tested, by `tsc` too. */
const client = createClient({ baseUrl: 'https://review.example.com', token: async () => 'key' });
const params = { id: 'x' };

describe('a call', () => {
  test('returns the body of its success', () => {
    expectTypeOf(client.files.get).returns.toEqualTypeOf<Promise<{ data: FileRecord }>>();
    expectTypeOf(client.folders.create).returns.toEqualTypeOf<Promise<{ data: { id: string } }>>();
    expectTypeOf(client.folders.list).returns.toEqualTypeOf<Promise<{ data: Folder[] }>>();
    expectTypeOf(client.files.delete).returns.toEqualTypeOf<Promise<void>>();
    expectTypeOf(client.skills.export).returns.toEqualTypeOf<Promise<string>>();
  });

  test('takes exactly the parts of its route', () => {
    expectTypeOf(client.files.delete).parameters.toEqualTypeOf<
      [request: { params: { id: string } }, options?: CallOptions]
    >();
    expectTypeOf(client.versions.setStatus)
      .parameter(0)
      .toEqualTypeOf<{ params: { id: string }; body: { status: Version['status'] } }>();
    expectTypeOf(client.folders.create)
      .parameter(0)
      .toEqualTypeOf<{ params: { id: string }; body: { name: string; parent?: { id: string } | null | undefined } }>();
  });

  test('needs no request where everything is optional', () => {
    expectTypeOf(client.ping.ping).toBeCallableWith();
    expectTypeOf(client.projects.list).toBeCallableWith();
    expectTypeOf(client.models.list).toBeCallableWith({ query: { outputType: 'VIDEO' } }, { timeoutMs: 1000 });
    expectTypeOf(client.files.get).toBeCallableWith({ params });
    expectTypeOf(client.comments.list).toBeCallableWith({ params });
    expectTypeOf(client.reactions.delete).toBeCallableWith({ params, query: { type: '👍' } });
  });

  test('every room is a property of the client', () => {
    expectTypeOf<keyof Client>().toEqualTypeOf<
      | 'ping'
      | 'projects'
      | 'files'
      | 'generation'
      | 'models'
      | 'folders'
      | 'versions'
      | 'members'
      | 'comments'
      | 'reactions'
      | 'attachments'
      | 'accessLinks'
      | 'skills'
    >();
  });
});

test('a problem is typed', () => {
  expectTypeOf<ApiProblem['code']>().toEqualTypeOf<ProblemCode>();
  expectTypeOf<ApiProblem['retryAfter']>().toEqualTypeOf<number | null>();
  expectTypeOf(ApiProblem).instance.toExtend<Error>();
});

test('iterators know their items and pages', () => {
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
});

test('generations, uploads and downloads are typed', () => {
  expectTypeOf(generate).returns.toEqualTypeOf<Promise<FileRecord>>();
  expectTypeOf(upload).returns.toEqualTypeOf<Promise<{ id: string }>>();
  expectTypeOf(downloadStream).returns.resolves.toExtend<ReadableStream<Uint8Array>>();
  const toPath = () => download(client, 'FX1', { to: 'x.mp4' });
  const toMemory = () => download(client, 'FX1');
  expectTypeOf(toPath).returns.toEqualTypeOf<Promise<void>>();
  expectTypeOf(toMemory).returns.toEqualTypeOf<Promise<Blob>>();
  expectTypeOf<UploadState>().toExtend<{ key: string; id: string | null; size: number }>();
});
