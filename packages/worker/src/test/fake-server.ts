import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiProblem } from '@review/client';
import type { WorkerClient } from '@review/client/worker';
import type { FinishedOutcome, GenerationTask, StepRecord, WorkerTask } from '@review/contract';
import { findModel, OPEN_GENERATION_STATUSES, settingsInEffect } from '@review/contract';

export interface Row extends WorkerTask {
  epoch: number;
  outcome: FinishedOutcome | null;
  sha256: string | null;
  steps: string[];
}

export interface FakeServer extends AsyncDisposable {
  client: WorkerClient;
  /** Adds a generation of that model. */
  add(outputModel: string, state?: Partial<Row>): { row: Row; handed: GenerationTask };
  /** The tasks for the next claims. */
  claimable: GenerationTask[];
  /** Called before every call; an error it throws is the answer. */
  before: (call: keyof WorkerClient, row: Row | undefined) => void;
  /** Renewals are answered after it, as of when they arrived. */
  answersRenewals: Promise<void>;
  calls: string[];
  /** The number of tasks of each claim that had any. */
  claimed: number[];
  /** The files whose leases were released. */
  released: string[];
  leaseSeconds: number;
  /** The status that the storage answers a part with. */
  storageStatus: number;
  /** The work directory; removed with the server. */
  folder: string;
}

export const problem = (status: number, code?: string): ApiProblem =>
  Object.assign(new ApiProblem({ status, body: {}, headers: new Headers() }), code && { code });

/** An in-memory worker API with a storage that accepts parts. */
export async function fakeServer(): Promise<FakeServer> {
  const rows = new Map<string, Row>();
  const recorded = new Set<string>();
  let received = Buffer.alloc(0);
  const storage = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    received = Buffer.concat(chunks);
    response.statusCode = fake.storageStatus;
    response.setHeader('etag', '"part"').end();
  });
  await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve));
  const address = storage.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;

  const enter = (call: keyof WorkerClient, id?: string) => {
    fake.calls.push(call);
    fake.before(call, rows.get(id ?? ''));
  };
  const held = (call: keyof WorkerClient, id: string, epoch: number, steps: StepRecord[] = []): Row => {
    enter(call, id);
    const row = rows.get(id);
    if (row?.epoch !== epoch || !OPEN_GENERATION_STATUSES.includes(row.status)) throw problem(404);
    for (const step of steps) {
      if (recorded.has(step.id)) continue;
      recorded.add(step.id);
      row.steps.push(`${step.name} ${step.attempt} ${step.outcome}`);
    }
    return row;
  };

  const client: WorkerClient = {
    async register() {
      enter('register');
      return { data: { engine: 'embedded' } };
    },
    async heartbeat() {
      enter('heartbeat');
      return { data: { draining: false } };
    },
    async claim({ body: { most } }, options) {
      enter('claim');
      const tasks = fake.claimable.splice(0, most);
      if (tasks.length > 0) fake.claimed.push(tasks.length);
      else {
        await new Promise((resolve, reject) => {
          setTimeout(resolve, 20);
          options?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        });
      }
      const claims = tasks.flatMap((claim) => {
        const row = rows.get(claim.fileId);
        return row === undefined ? [] : [{ ...claim, task: structuredClone(row) }];
      });
      return { data: { tasks: claims, leaseSeconds: fake.leaseSeconds } };
    },
    async renew({ body: { tasks } }, options) {
      enter('renew');
      const isHeld = ({ fileId, epoch }: { fileId: string; epoch: number }) => {
        const row = rows.get(fileId);
        return row?.epoch === epoch && OPEN_GENERATION_STATUSES.includes(row.status);
      };
      const lost = tasks.filter((task) => !isHeld(task)).map(({ fileId }) => fileId);
      await new Promise<void>((resolve, reject) => {
        options?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        void fake.answersRenewals.then(resolve);
      });
      return { data: { lost } };
    },
    async release({ params: { id }, body: { epoch } }) {
      held('release', id, epoch);
      fake.released.push(id);
    },
    async getTask({ params: { id }, query: { epoch } }) {
      enter('getTask', id);
      const row = rows.get(id);
      if (row === undefined || row.epoch !== Number(epoch)) throw problem(404);
      return { data: structuredClone(row) };
    },
    async reserveSubmit({ params: { id }, body: { epoch, stage, intents } }) {
      const row = held('reserveSubmit', id, epoch);
      const known = row.stages[stage] ?? { intents: 0, job: null };
      if (known.intents !== intents || known.job !== null)
        return { data: { granted: false, stage: known, provider: row.provider } };
      row.status = 'RUNNING';
      row.stages[stage] = { intents: intents + 1, job: null };
      return { data: { granted: true, stage: { intents: intents + 1, job: null }, provider: row.provider } };
    },
    async releaseSubmit({ params: { id }, body: { epoch, stage, intents } }) {
      const known = held('releaseSubmit', id, epoch).stages[stage];
      if (known?.intents === intents) known.intents -= 1;
    },
    async submitted({ params: { id }, body: { epoch, stage, job, steps } }) {
      const row = held('submitted', id, epoch, steps);
      row.stages[stage] = { intents: row.stages[stage]?.intents ?? 1, job };
    },
    async progress({ params: { id }, body: { epoch, steps } }) {
      held('progress', id, epoch, steps);
    },
    async startUpload({ params: { id }, body: { epoch, size } }) {
      held('startUpload', id, epoch);
      return { data: { parts: [{ partNumber: 1, size, url: `http://127.0.0.1:${port}/` }] } };
    },
    async completeUpload({ params: { id }, body: { epoch, sha256, steps } }) {
      const row = held('completeUpload', id, epoch, steps);
      if (hash('sha256', received) !== sha256) throw problem(409, 'PARTS_MISMATCH');
      row.stored = true;
      row.sha256 = sha256;
    },
    async storeResult({ params: { id }, body: { epoch, content, sha256, submitted, finish, steps } }) {
      const row = held('storeResult', id, epoch, steps);
      if (hash('sha256', Buffer.from(content, 'base64')) !== sha256) throw problem(409, 'PARTS_MISMATCH');
      row.stored = true;
      row.sha256 = sha256;
      if (submitted) row.stages[submitted.stage] = { intents: 1, job: submitted.job };
      if (finish === undefined) return;
      row.outcome = { status: 'SUCCEEDED', ...finish };
      row.status = 'SUCCEEDED';
    },
    async recordSteps({ params: { id }, body: { epoch, steps } }) {
      held('recordSteps', id, epoch, steps);
    },
    async recordStep() {
      throw new Error('Only older workers call it.');
    },
    claimWebhooks: calledElsewhere,
    exchangeDeliveries: calledElsewhere,
    claimMedia: calledElsewhere,
    startMedia: calledElsewhere,
    renewMedia: calledElsewhere,
    releaseMedia: calledElsewhere,
    recordFacts: calledElsewhere,
    startRendition: calledElsewhere,
    completeRendition: calledElsewhere,
    finishMedia: calledElsewhere,
    async finish({ params: { id }, body: { epoch, outcome, steps } }) {
      const row = held('finish', id, epoch, steps);
      row.outcome = outcome;
      row.status = outcome.status;
    },
  };

  const fake: FakeServer = {
    client,
    folder: await mkdtemp(join(tmpdir(), 'review-steps-')),
    claimable: [],
    answersRenewals: Promise.resolve(),
    calls: [],
    claimed: [],
    released: [],
    leaseSeconds: 30,
    storageStatus: 200,
    before: () => {},
    add(outputModel, state = {}) {
      const model = findModel(outputModel);
      if (model === undefined) throw new Error(`There is no model ${outputModel}.`);
      const fileId = `FX${String(rows.size + 1).padStart(20, '0')}`;
      const row: Row = {
        fileId,
        family: model.family,
        status: 'QUEUED',
        outputType: model.outputType,
        outputModel,
        prompt: 'A lamp',
        configs: model.video && settingsInEffect(model.video, null),
        provider: null,
        attachments: [],
        stages: {},
        stored: false,
        epoch: 1,
        outcome: null,
        sha256: null,
        steps: [],
        ...structuredClone(state),
      };
      rows.set(fileId, row);
      return { row, handed: { fileId, family: row.family, epoch: row.epoch } };
    },
    async [Symbol.asyncDispose]() {
      storage.closeAllConnections();
      await new Promise((resolve) => storage.close(resolve));
      await rm(fake.folder, { recursive: true, force: true });
    },
  };
  return fake;
}

async function calledElsewhere(): Promise<never> {
  throw new Error('Only the tests of webhooks and media call it.');
}
