import { randomUUID } from 'node:crypto';
import { createWorkerClient, type WorkerClient } from '@review/client/worker';
import { findModel, type GenerateRequest, type Model, type StepRecord } from '@review/contract';
import { newId } from '../../../db/ids.ts';
import { type House, json, type PersonName } from '../../../test/house.ts';
import { insertFile } from '../../files/queries.ts';
import { putParts, sha256 } from '../../uploads/test/uploads.ts';
import { insertGeneration } from '../queries.ts';

/** Settings without limits, for tests in which nothing should wait for a slot. */
export const NO_LIMITS = {
  GENERATION_SLOTS: 'DOCUMENT=10000,IMAGE=10000,VIDEO=10000,3D=10000',
  FAMILY_CAPS: 'document=10000,gpt-image=10000,seedance=10000,veo=10000,meshy=10000',
  GENERATION_QUEUE_LIMIT: '100000',
};

export const PAGE: GenerateRequest = {
  outputType: 'DOCUMENT',
  outputModel: 'markdown',
  prompt: 'A page about tides.',
  folder: null,
  attachments: [],
};
export const PICTURE: GenerateRequest = { ...PAGE, outputType: 'IMAGE', outputModel: 'gpt-image-2' };
export const FILM: GenerateRequest = { ...PAGE, outputType: 'VIDEO', outputModel: 'seedance-2.5' };
export const MESH: GenerateRequest = { ...PAGE, outputType: '3D', outputModel: 'meshy-7' };

/** The fewest bytes that are detected as PNG. */
export const PNG = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'),
  Buffer.from('0000000a49444154789c6360000000020001e221bc330000000049454e44ae426082', 'hex'),
]);

/** The refusal of each person by an operation for editors, on a file that restricted reviewers cannot see; null for none. */
export const BY_EDITORS: [PersonName, string | null][] = [
  ['owner', null],
  ['manager', null],
  ['member', null],
  ['reviewer', 'INSUFFICIENT_ROLE'],
  ['restricted', 'NOT_FOUND'],
  ['stranger', 'NOT_FOUND'],
  ['foreigner', 'NOT_FOUND'],
];

export const generatePath = (projectId: string) => `/api/projects/${projectId}/files/upload.generate`;

/** Sends a request that the typed client would refuse. */
export const post = (
  house: House,
  body: unknown,
  asked: { person?: PersonName; projectId?: string; headers?: Record<string, string> } = {},
): Promise<Response> =>
  house.request(
    asked.person ?? 'owner',
    'POST',
    generatePath(asked.projectId ?? house.projectId),
    json(body, asked.headers),
  );

/** The id of a new generation. */
export async function generate(
  house: House,
  asked: Partial<GenerateRequest> = {},
  projectId = house.projectId,
): Promise<string> {
  const body = { ...PAGE, ...asked };
  return (await house.people.owner.client.generation.generate({ params: { id: projectId }, body })).data.id;
}

export const workerOf = ({ url, deps }: House): WorkerClient =>
  createWorkerClient({ baseUrl: url, token: deps.config.workerToken });

export interface Held {
  id: string;
  epoch: number;
}

/** Claims all open generations and returns the task of that one; needs `NO_LIMITS`. */
export async function take(house: House, id: string, worker = 'box:1'): Promise<Held> {
  const { data } = await workerOf(house).claim({ body: { worker, most: 100, wait: 0 } });
  const task = data.tasks.find(({ fileId }) => fileId === id);
  if (task === undefined) throw new Error(`${id} was not handed out`);
  return { id, epoch: task.epoch };
}

/** A new generation that a worker has claimed. */
export const held = async (house: House, asked: Partial<GenerateRequest> = {}): Promise<Held> =>
  take(house, await generate(house, asked));

/** Expires all leases, or that one. */
export const lapse = ({ deps }: House, id?: string) =>
  deps.db
    .updateTable('generations')
    .set({ lease_until: '2000-01-01 00:00:00.000000' })
    .where('lease_until', 'is not', null)
    .$if(id !== undefined, (leases) => leases.where('file_id', '=', id ?? ''))
    .execute();

/** Lets another worker claim the same generation. */
export async function takeOver(house: House, { id }: Held): Promise<Held> {
  await lapse(house, id);
  return take(house, id, 'box:2');
}

export const reserveSubmit = (house: House, { id, epoch }: Held, stage = 'main', intents = 0) =>
  workerOf(house).reserveSubmit({
    params: { id },
    body: { epoch, stage, provider: 'sandbox', intents, token: randomUUID() },
  });

/** Uploads bytes as the result, without completing. */
export async function sendResult(house: House, { id, epoch }: Held, bytes: Uint8Array) {
  const { data } = await workerOf(house).startUpload({ params: { id }, body: { epoch, size: bytes.length } });
  return putParts({ id, parts: data.parts, expiresAt: '' }, bytes);
}

/** Uploads bytes as the result. */
export async function storeResult(house: House, task: Held, bytes: Uint8Array = Buffer.from('# Tides')): Promise<void> {
  const parts = await sendResult(house, task, bytes);
  const body = { epoch: task.epoch, parts, sha256: sha256(bytes) };
  await workerOf(house).completeUpload({ params: { id: task.id }, body });
}

/** The body of a result that is sent in one call. */
export const direct = (bytes: Uint8Array) => ({
  content: Buffer.from(bytes).toString('base64'),
  sha256: sha256(bytes),
});

export const stepRecord = (own: Partial<StepRecord> = {}): StepRecord => ({
  id: randomUUID(),
  name: 'submit',
  attempt: 1,
  outcome: 'SUCCEEDED',
  message: null,
  milliseconds: 1500,
  ago: 0,
  ...own,
});

export const finish = (house: House, { id, epoch }: Held, warnings: string[] = []): Promise<void> =>
  workerOf(house).finish({ params: { id }, body: { epoch, outcome: { status: 'SUCCEEDED', warnings } } });

export const BROKEN = { code: 'PROVIDER_REJECTED', message: 'The provider said no.', retryable: false } as const;

export const fail = (house: House, { id, epoch }: Held, warnings: string[] = []): Promise<void> =>
  workerOf(house).finish({
    params: { id },
    body: { epoch, outcome: { status: 'FAILED', error: BROKEN, warnings } },
  });

export const fileOf = async (house: House, id: string) =>
  (await house.people.owner.client.files.get({ params: { id }, query: { wait: 0 } })).data;

/** All rows of a generation. */
export function stored({ deps: { db } }: House, id: string) {
  // One view of all tables: a deadline check of another history may be ending the same generation.
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => ({
      generation: await trx.selectFrom('generations').selectAll().where('file_id', '=', id).executeTakeFirst(),
      file: await trx.selectFrom('files').selectAll().where('id', '=', id).executeTakeFirst(),
      upload: await trx.selectFrom('uploads').selectAll().where('id', '=', id).executeTakeFirst(),
      steps: await trx
        .selectFrom('generation_steps')
        .selectAll()
        .where('file_id', '=', id)
        .orderBy('position')
        .execute(),
      pendingDeletions: await trx
        .selectFrom('pending_blob_deletions')
        .selectAll()
        .where('storage_key', 'like', `${id}%`)
        .orderBy('storage_key')
        .execute(),
    }));
}

/** Ends all generations, for tests that count them. */
export const emptyQueue = ({ deps }: House) => deps.db.deleteFrom('generations').execute();

let queued = 0;

/** Inserts many generations into the database, in the order of the queue. */
export async function queueMany(
  { deps: { db, clock }, projectId, workspaceId, people }: House,
  models: readonly Model[],
  inWorkspace = workspaceId,
): Promise<string[]> {
  const ids = models.map(() => newId('FX'));
  await db.transaction().execute(async (trx) => {
    for (const [index, { id: outputModel, outputType, family }] of models.entries()) {
      const id = ids[index] ?? '';
      const at = `2026-01-01 00:00:00.${String(++queued).padStart(6, '0')}`;
      await insertFile(trx, {
        id,
        project_id: projectId,
        name: 'a',
        mode: 'GENERATED',
        status: 'GENERATING',
        output_type: outputType,
        created_by: people.owner.userId,
        created_at: at,
      });
      const generation = {
        file_id: id,
        workspace_id: inWorkspace,
        family,
        output_type: outputType,
        output_model: outputModel,
        prompt: 'x',
        promised: 'sandbox',
        queued_at: at,
        deadline_at: clock(3600),
      } as const;
      await insertGeneration(trx, generation, []);
    }
  });
  return ids;
}

export function modelNamed(id: string): Model {
  const model = findModel(id);
  if (model === undefined) throw new Error(`there is no ${id}`);
  return model;
}
