import { createHash } from 'node:crypto';
import type { NewUpload, UploadedParts, UploadPart } from '@review/contract';
import { expect } from 'vitest';
import type { House, Person, PersonName } from '../../../test/house.ts';

type Client = Person['client'];
export type Part = UploadedParts['parts'][number];

export interface Started {
  id: string;
  parts: UploadPart[];
  expiresAt: string;
}

/** The three kinds of uploads, which differ only in their paths. */
export const KINDS = ['FX', 'CA', 'GA'] as const;
export type Kind = (typeof KINDS)[number];

const ROOMS = { FX: 'files', CA: 'comment-attachments', GA: 'generation-attachments' } as const satisfies Record<
  Kind,
  string
>;

export const START_SCOPES = { FX: 'files:write', CA: 'comments:write', GA: 'ai:generate' } as const;

export const startPath = (kind: Kind, projectId: string) =>
  `/api/projects/${projectId}/${ROOMS[kind]}/upload.multipart`;
export const completePath = (kind: Kind, id: string) => `/api/${ROOMS[kind]}/${id}/upload.complete`;
export const cancelPath = (kind: Kind, id: string) => `/api/${ROOMS[kind]}/${id}/upload.cancel`;

export async function start(
  client: Client,
  kind: Kind,
  projectId: string,
  body: Partial<NewUpload> = {},
): Promise<Started> {
  const { files, attachments } = client;
  const call = { FX: files.startUpload, CA: attachments.start, GA: attachments.startForGeneration }[kind];
  return (await call({ params: { id: projectId }, body: { name: 'clip.bin', size: 10, ...body } })).data;
}

export function complete(client: Client, id: string, parts: Part[]): Promise<void> {
  const { files, attachments } = client;
  const call = { FX: files.completeUpload, CA: attachments.complete, GA: attachments.completeForGeneration }[
    kindOf(id)
  ];
  return call({ params: { id }, body: { parts } });
}

export function cancel(client: Client, id: string): Promise<void> {
  const { files, attachments } = client;
  const call = { FX: files.cancel, CA: attachments.cancel, GA: attachments.cancelForGeneration }[kindOf(id)];
  return call({ params: { id } });
}

function kindOf(id: string): Kind {
  const kind = KINDS.find((prefix) => id.startsWith(prefix));
  if (kind === undefined) throw new Error(`not an upload: ${id}`);
  return kind;
}

export const put = (url: string, bytes: Uint8Array): Promise<Response> =>
  fetch(url, { method: 'PUT', body: new Uint8Array(bytes) });

/** Sends those parts of the bytes. */
export const putParts = ({ parts }: Started, bytes: Uint8Array, wanted: UploadPart[] = parts): Promise<Part[]> =>
  Promise.all(
    wanted.map(async ({ partNumber, size, url }) => {
      const from = parts.slice(0, partNumber - 1).reduce((sum, part) => sum + part.size, 0);
      const answer = await put(url, bytes.subarray(from, from + size));
      expect(answer.status).toBe(200);
      return { partNumber, eTag: answer.headers.get('etag') ?? '' };
    }),
  );

/** An upload with all parts sent, before its completion. */
export async function sent(
  client: Client,
  kind: Kind,
  projectId: string,
  bytes: Uint8Array,
  body: Partial<NewUpload> = {},
): Promise<Started & { sent: Part[] }> {
  const started = await start(client, kind, projectId, { ...body, size: bytes.length });
  return { ...started, sent: await putParts(started, bytes) };
}

/** The id of a completed upload. */
export async function upload(
  client: Client,
  kind: Kind,
  projectId: string,
  bytes: Uint8Array = Buffer.from('some bytes'),
  body: Partial<NewUpload> = {},
): Promise<string> {
  const { id, sent: parts } = await sent(client, kind, projectId, bytes, body);
  await complete(client, id, parts);
  return id;
}

export const uploadFile = (house: House, bytes?: Uint8Array, body?: Partial<NewUpload>, person: PersonName = 'owner') =>
  upload(house.people[person].client, 'FX', house.projectId, bytes, body);

/** Moves a file to the trash and deletes it there. */
export async function deleteForGood({ files }: Client, id: string): Promise<void> {
  for (const trashed of ['false', 'true'] as const) await files.delete({ params: { id }, query: { trashed } });
}

/** The stored content of an upload, read from the storage. */
export async function storedBytes(house: House, id: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await house.deps.storage.read(id)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export const newProject = async (house: House): Promise<string> =>
  (await house.people.owner.client.projects.create({ body: { name: 'Fresh' } })).data.id;

export async function newFolder(house: House, projectId = house.projectId): Promise<string> {
  const created = await house.people.owner.client.folders.create({ params: { id: projectId }, body: { name: 'Cuts' } });
  return created.data.id;
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export const RECORD_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/;

/** Parses a response with a schema. */
export const answered = async <T>(response: Promise<Response>): Promise<T> => (await (await response).json()) as T;

export const startedBy = async (response: Promise<Response>): Promise<Started> =>
  (await answered<{ data: Started }>(response)).data;
