import type { ApiProblem } from '@review/client';
import type { Annotation, CommentRecord, NewFileComment } from '@review/contract';
import { newId, newUuid } from '../../../db/ids.ts';
import { now, secondsFromNow } from '../../../db/time.ts';
import { type House, json, PEOPLE, type PersonName } from '../../../test/house.ts';
import { insertUpload, markCompleted } from '../../uploads/queries.ts';

export const UNKNOWN_UUID = '0195c2de-1234-7abc-8def-0123456789ab';
export const UNKNOWN_ATTACHMENT = 'CA00000000000000000000';
export const UNKNOWN_FILE = 'FX00000000000000000000';
export const RECORD_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/;
/** One character, two UTF-16 units. */
export const WIDE = '\u{1F3AC}';

export const ROLES = ['owner', 'manager', 'member', 'reviewer', 'restricted'] as const satisfies PersonName[];

/** A new project with the same people in the same roles. */
export async function newProject(house: House): Promise<string> {
  const members = ROLES.flatMap((name) => {
    const role = PEOPLE[name];
    return role === 'PROJECT_OWNER' ? [] : [{ user: { id: house.people[name].userId }, role }];
  });
  return (await house.people.owner.client.projects.create({ body: { name: 'Fresh', members } })).data.id;
}

type Started = { data: { id: string; parts: { url: string; size: number; partNumber: number }[] } };

const upload = async ({ data: { parts } }: Started, bytes: Buffer<ArrayBuffer>) => {
  let at = 0;
  const stored: { partNumber: number; eTag: string }[] = [];
  for (const { partNumber, size, url } of parts) {
    const answer = await fetch(url, { method: 'PUT', body: bytes.subarray(at, at + size) });
    stored.push({ partNumber, eTag: answer.headers.get('etag') ?? '' });
    at += size;
  }
  return { parts: stored };
};

/** An uploaded file of the member's. */
export async function newFile(
  house: House,
  { projectId = house.projectId, allowRestricted = false }: { projectId?: string; allowRestricted?: boolean } = {},
): Promise<string> {
  const { files } = house.people.member.client;
  const bytes = Buffer.from('A cut.');
  const started = await files.startUpload({ params: { id: projectId }, body: { name: 'cut.txt', size: bytes.length } });
  const params = { id: started.data.id };
  await files.completeUpload({ params, body: await upload(started, bytes) });
  if (allowRestricted) await files.update({ params, body: { allowRestricted } });
  return params.id;
}

interface AttachmentFields {
  as?: PersonName;
  projectId?: string;
  name?: string;
  completed?: boolean;
}

/** An attachment of the member's, uploaded. */
export async function uploadAttachment(house: House, { projectId = house.projectId } = {}): Promise<string> {
  const { attachments } = house.people.member.client;
  const bytes = Buffer.from('A note.');
  const started = await attachments.start({ params: { id: projectId }, body: { name: 'a.txt', size: bytes.length } });
  const params = { id: started.data.id };
  await attachments.complete({ params, body: await upload(started, bytes) });
  return params.id;
}

/** Inserts an attachment into the database, without content. */
export async function newAttachment(house: House, fields: AttachmentFields = {}): Promise<string> {
  const { as = 'member', projectId = house.projectId, name = 'note.txt', completed = true } = fields;
  const id = newId('CA');
  await house.deps.db.transaction().execute(async (trx) => {
    await insertUpload(trx, {
      id,
      project_id: projectId,
      started_by: house.people[as].userId,
      name,
      size: 7,
      part_count: 1,
      storage_key: id,
      created_at: now(),
      expires_at: secondsFromNow(3600),
    });
    if (completed) await markCompleted(trx, { id, key: id, completed_with: 'its parts', mime_type: 'text/plain' });
  });
  return id;
}

export const newAttachments = (house: House, count: number, fields: AttachmentFields = {}): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => newAttachment(house, { ...fields, name: `${index}.txt` })));

/** A drawing, for comments on files. */
export const DRAWING: Annotation = {
  version: 1,
  shapes: [
    {
      type: 'PEN',
      points: [
        [0.1, 0.25],
        [1 / 3, 0.5, 0.75],
      ],
      color: '#e03131',
      strokeWidth: 0.004,
    },
    { type: 'TEXT', x: 0.5, y: 1, text: 'Softer \u{1F3AC}', color: '#FFFFFF', strokeWidth: 0.01 },
    { type: 'PIN', x: -3.5, y: 12, z: 0.25, color: '#1971c2', strokeWidth: 0.004 },
  ],
};

export interface Said extends NewFileComment {
  as?: PersonName;
  projectId?: string;
  fileId?: string;
}

/** Comments on the house's project, another one or a file, as the member or another person. */
export async function say(house: House, said: Said = {}): Promise<string> {
  const { as = 'member', projectId = house.projectId, fileId, ...fields } = said;
  const body =
    fields.content === undefined && fields.attachments === undefined ? { ...fields, content: 'Hm.' } : fields;
  const { comments } = house.people[as].client;
  const created =
    fileId === undefined
      ? await comments.create({ params: { id: projectId }, body })
      : await comments.createOnFile({ params: { id: fileId }, body });
  return created.data.id;
}

export const read = async (house: House, id: string, as: PersonName = 'owner'): Promise<CommentRecord> =>
  (await house.people[as].client.comments.get({ params: { id } })).data;

export const react = (house: House, id: string, as: PersonName = 'owner', type = '👍'): Promise<void> =>
  house.people[as].client.reactions.create({ params: { id }, body: { type } });

/** Sends a request that the typed client would refuse, and returns the status and the body. */
export async function ask(house: House, as: PersonName, method: string, path: string, body?: unknown) {
  const response = await house.request(as, method, path, body === undefined ? {} : json(body));
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

/** The errors of a problem, such as `/content TOO_LONG`. */
export const errorsOf = (problem: Pick<ApiProblem, 'errors'>): string[] =>
  problem.errors.map(({ pointer, code }) => `${pointer} ${code}`);

interface ManyComments {
  projectId: string;
  fileId?: string;
  parentId?: string;
  /** The time of each by its index; increasing by default. */
  at?: (index: number) => string;
}

export const timeOf = (index: number): string => `2026-01-01 00:00:00.${String(index).padStart(6, '0')}`;

/** Inserts many comments into the database; returns their ids in the order of the list. */
export async function sayMany(house: House, count: number, about: ManyComments): Promise<string[]> {
  const { projectId, fileId = null, parentId = null, at = timeOf } = about;
  const rows = Array.from({ length: count }, (_, index) => ({ id: newUuid(), createdAt: at(index) }));
  for (let start = 0; start < count; start += 500) {
    const values = rows.slice(start, start + 500).map(({ id, createdAt }) => ({
      id,
      project_id: projectId,
      file_id: fileId,
      parent_id: parentId,
      author_id: house.people.member.userId,
      content: 'One of many.',
      created_at: createdAt,
      updated_at: createdAt,
    }));
    await house.deps.db.insertInto('comments').values(values).execute();
  }
  const key = ({ createdAt, id }: (typeof rows)[number]) => `${createdAt} ${id}`;
  return rows.sort((a, b) => (key(a) < key(b) ? -1 : 1)).map(({ id }) => id);
}
