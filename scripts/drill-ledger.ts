import type { Service } from '../e2e/service.ts';
import { sha256 } from '../e2e/service.ts';
import { type Client, items } from '../packages/client/dist/index.js';

/** Every write that the service acknowledged, for the audit after the drill. */
export class Ledger {
  /** Content by comment id. */
  readonly comments = new Map<string, string>();
  /** SHA-256 by file id. */
  readonly uploads = new Map<string, string>();
  readonly generations = new Set<string>();

  get writes(): number {
    return this.comments.size + this.uploads.size + this.generations.size;
  }
}

export interface Audit {
  lost: number;
  wrong: number;
  twice: number;
  stuck: number;
  orphans: number;
  failed: Map<string, number>;
}

/** Compares the acknowledged writes with the stored data; `stored` are the keys in the object store. */
export async function audit(service: Service, client: Client, ledger: Ledger, stored: string[]): Promise<Audit> {
  const found: Audit = { lost: 0, wrong: 0, twice: 0, stuck: 0, orphans: 0, failed: new Map() };
  await auditComments(service, client, ledger, found);
  await auditUploads(service, client, ledger, found);
  await auditGenerations(service, client, ledger, found);
  const referenced = await referencedKeys(service);
  found.orphans = stored.filter((key) => !referenced.has(key.split('/').at(-1) ?? '')).length;
  return found;
}

async function auditComments({ projectId }: Service, client: Client, { comments }: Ledger, found: Audit) {
  const ids = new Map<string, string[]>();
  const contents = new Map<string, string | null>();
  for await (const { id, content } of items(client.comments.list, { params: { id: projectId } })) {
    contents.set(id, content);
    if (content !== null) ids.set(content, [...(ids.get(content) ?? []), id]);
  }
  for (const [id, content] of comments) {
    if (!contents.has(id)) found.lost += 1;
    else if (contents.get(id) !== content) found.wrong += 1;
    else if ((ids.get(content)?.length ?? 0) > 1) found.twice += 1;
  }
}

async function auditUploads(service: Service, client: Client, { uploads }: Ledger, found: Audit) {
  for (const [id, hash] of uploads) {
    const file = await client.files.get({ params: { id } }).catch(() => null);
    if (file?.data.status !== 'UPLOADED') found.lost += 1;
    else if ((await service.bytesOf(id).then(sha256, () => '')) !== hash) found.wrong += 1;
  }
}

async function auditGenerations(service: Service, client: Client, { generations }: Ledger, found: Audit) {
  for (const id of generations) {
    const file = (await client.files.get({ params: { id } }).catch(() => null))?.data;
    if (file === undefined) found.lost += 1;
    else if (file.status === 'GENERATING') found.stuck += 1;
    else if (file.status === 'FAILED') {
      const { code = 'nothing', message = '' } = file.generation?.error ?? {};
      found.failed.set(`${code}: ${message}`, (found.failed.get(`${code}: ${message}`) ?? 0) + 1);
    } else if (file.status === 'UPLOADED') {
      if ((await service.bytesOf(id).then(sha256, () => '')) !== file.sha256) found.wrong += 1;
      // Documents and images may be submitted a second time after a crash; videos and 3D files never.
      const max = ['DOCUMENT', 'IMAGE'].includes(file.generation?.outputType ?? '') ? 2 : 1;
      if ((await service.intents(id)) > max) found.twice += 1;
    }
  }
}

/** The storage keys that the database references, including pending deletions. */
async function referencedKeys({ database: { db } }: Service): Promise<Set<string>> {
  const [files, renditions, uploads, deletions, results] = await Promise.all([
    db.selectFrom('files').select('storage_key as key').execute(),
    db.selectFrom('renditions').select('storage_key as key').execute(),
    db.selectFrom('uploads').select('storage_key as key').execute(),
    db.selectFrom('pending_blob_deletions').select('storage_key as key').execute(),
    db.selectFrom('generations').select('result').where('result', 'is not', null).execute(),
  ]);
  const keys = [...files, ...renditions, ...uploads, ...deletions].flatMap(({ key }) => key ?? []);
  return new Set([...keys, ...results.map(({ result }) => JSON.parse(result ?? '{}').storageKey)]);
}
