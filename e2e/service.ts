import { createHash } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type ClientOptions, createClient, upload } from '@review/client';
import { type FileRecord, findModel, type GenerateRequest, SCOPES } from '@review/contract';
import { z } from 'zod';
import { insertWorkspace, joinWorkspace } from '../packages/server/src/accounts/queries.ts';
import { readConfig } from '../packages/server/src/config/config.ts';
import { issueKey } from '../packages/server/src/credentials/issue.ts';
import type { OpenDatabase } from '../packages/server/src/db/database.ts';
import { parseJson } from '../packages/server/src/db/json.ts';
import { openDatabase } from '../packages/server/src/db/open.ts';
import { findGeneration } from '../packages/server/src/rooms/generation/queries.ts';
import { createDatabase } from '../packages/server/src/test/postgres.ts';
import { removeDirectory } from '../packages/worker/src/remove-directory.ts';
import { freePort } from '../scripts/free-port.ts';
import { Program, readOutput, until } from './processes.ts';

const packages = resolve(import.meta.dirname, '..', 'packages');
const FINAL = ['UPLOADED', 'FAILED', 'CANCELED'];
const Demo = z.object({
  people: z.tuple([z.object({ key: z.string() })], z.unknown()),
  projects: z.tuple([z.object({ id: z.string() })], z.unknown()),
});

export type Settings = Record<string, string>;

/** For tests that are not about media: to read that of a file takes a process and a second of a core. */
export const NO_MEDIA: Settings = { MEDIA_CONCURRENCY: '0' };

/** Backends in place of SQLite, the disk and the embedded engine. */
export interface Backends {
  /** The URL of a Postgres server; the service gets its own database there. */
  postgres?: string;
  temporal?: { address: string };
  objectStore?: { settings: Settings };
}

/** What the service holds at the start: one project of one person, or what `review demo` creates, which takes a second. */
type Content = 'project' | 'demo';

/** A server and its workers as processes with their own data; each can be killed and restarted. */
export class Service implements AsyncDisposable {
  readonly url: string;
  readonly folder: string;
  readonly settings: Settings;
  readonly workers = new Set<Program>();
  readonly #disposed = new AsyncDisposableStack();
  server: Program | null = null;
  client: Client;
  projectId = '';
  key = '';
  #database: OpenDatabase | undefined;

  private constructor(port: string, folder: string, settings: Settings) {
    this.url = `http://127.0.0.1:${port}`;
    this.folder = folder;
    this.settings = {
      DATA_DIR: join(folder, 'data'),
      WORK_DIR: join(folder, 'work'),
      PORT: port,
      PUBLIC_URL: this.url,
      SERVER_URL: this.url,
      CONSOLE_DIR: 'off',
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'warn',
      GENERATION_SLOTS: 'DOCUMENT=50,IMAGE=50,VIDEO=50,3D=50',
      SANDBOX_MILLISECONDS: '300',
      ...settings,
    };
    this.client = this.clientAt(this.url);
    // Decoders of killed workers may still write there.
    this.#disposed.defer(() => removeDirectory(folder));
  }

  static async start(
    settings: Settings = {},
    { postgres, temporal, objectStore }: Backends = {},
    content: Content = 'project',
  ): Promise<Service> {
    const database = postgres === undefined ? null : await createDatabase(postgres);
    const folder = await mkdtemp(join(tmpdir(), 'review-e2e-'));
    const service = new Service(await freePort(), folder, {
      ...(database && { DATABASE_URL: database.url }),
      ...(temporal && { TEMPORAL_ADDRESS: temporal.address }),
      ...objectStore?.settings,
      ...settings,
    });
    if (database) service.#disposed.use(database);
    try {
      await service.startServer();
      await (content === 'demo' ? service.#createDemo() : service.#createProject());
      return service;
    } catch (error) {
      // The caller gets no service to dispose of.
      await service[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs a `review` command with the settings of the server, and returns its JSON. */
  async review(...words: string[]): Promise<unknown> {
    const command = join(packages, 'server/dist/commands/main.js');
    return JSON.parse(await readOutput(process.execPath, [command, ...words, '--json'], this.settings));
  }

  async #createDemo(): Promise<void> {
    const { people, projects } = Demo.parse(await this.review('demo'));
    this.#signIn(people[0].key);
    this.projectId = projects[0].id;
  }

  async #createProject(): Promise<void> {
    await using database = this.#openDatabase();
    const { db } = database;
    const workspaceId = await insertWorkspace(db, 'Studio');
    const owner = { workspaceId, email: 'owner@example.com', name: 'Ona Owner' };
    const userId = await db.transaction().execute((trx) => joinWorkspace(trx, owner));
    this.#signIn((await issueKey(db, { workspaceId, userId, scopes: SCOPES })).key);
    this.projectId = (await this.client.projects.create({ body: { name: 'A project' } })).data.id;
  }

  #signIn(key: string): void {
    this.key = key;
    this.client = this.clientAt(this.url);
  }

  #run(file: string, settings: Settings): Program {
    const program = new Program(process.execPath, [file], { ...this.settings, ...settings });
    this.#disposed.use(program);
    return program;
  }

  /** Starts the server, or with another `PORT` a further one over the same data, and waits until it is ready. */
  async startServer(settings: Settings = {}): Promise<Program> {
    const server = this.#run(join(packages, 'server/dist/main.js'), settings);
    const port = settings['PORT'];
    if (port === undefined) this.server = server;
    const url = port === undefined ? this.url : `http://127.0.0.1:${port}`;
    await until('the server is ready', async () => {
      if (server.child.exitCode !== null) throw new Error(`the server exited:\n${server.output}`);
      return (await fetch(`${url}/readyz`).catch(() => null))?.ok;
    });
    return server;
  }

  async restartServer(): Promise<void> {
    await this.server?.end();
    await this.startServer();
  }

  /** Starts a worker and waits until it has registered. With TEST_PROVIDER_URL, the test provider replaces all vendors. */
  async startWorker(name: string, settings: Settings = {}): Promise<Program> {
    const isTest = 'TEST_PROVIDER_URL' in { ...this.settings, ...settings };
    const file = isTest ? join(import.meta.dirname, 'vendor-worker.ts') : join(packages, 'worker/dist/main.js');
    const worker = this.#run(file, { WORKER_NAME: name, LOG_LEVEL: 'info', ...settings });
    this.workers.add(worker);
    void worker.exit.then(() => this.workers.delete(worker));
    await worker.waitForOutput('"ready"');
    return worker;
  }

  /** A client without retries by default, so that tests see failures. */
  clientAt = (baseUrl: string, options: Partial<ClientOptions> = {}): Client =>
    createClient({ baseUrl, token: this.key, retries: 0, ...options });

  async generate(
    outputModel: string,
    prompt = 'A lamp',
    more: Partial<GenerateRequest> = {},
    client = this.client,
  ): Promise<string> {
    const outputType = findModel(outputModel)?.outputType ?? 'DOCUMENT';
    const body = { outputType, outputModel, prompt, folder: null, attachments: [], ...more };
    return (await client.generation.generate({ params: { id: this.projectId }, body })).data.id;
  }

  /** Uploads an attachment for generations. */
  attach = (bytes: Uint8Array, name = 'lamp.png'): Promise<{ id: string }> =>
    upload(this.client, { to: { project: this.projectId, kind: 'generation' }, source: new Uint8Array(bytes), name });

  async file(id: string, wait = 0): Promise<FileRecord> {
    return (await this.client.files.get({ params: { id }, query: { wait } })).data;
  }

  async waitForEnd(id: string, seconds = 120): Promise<FileRecord> {
    const deadline = performance.now() + seconds * 1000;
    for (;;) {
      const file = await this.file(id, 5).catch(() => null);
      if (file && FINAL.includes(file.status)) return file;
      if (performance.now() > deadline) throw new Error(`${id} is still ${JSON.stringify(file?.generation)}`);
      if (file === null) await sleep(100);
    }
  }

  async waitForRunning(id: string): Promise<void> {
    await until(`${id} runs`, async () => (await this.file(id)).generation?.status === 'RUNNING');
  }

  async steps(id: string) {
    return (await this.client.files.getGeneration({ params: { id } })).data.steps;
  }

  async bytesOf(id: string): Promise<Buffer> {
    const { data } = await this.client.files.download({ params: { id } });
    const answer = await fetch(data.url);
    if (!answer.ok) throw new Error(`the download returned ${answer.status}`);
    return Buffer.from(await answer.arrayBuffer());
  }

  /** The generation as stored in the database. */
  async row(id: string) {
    const row = await findGeneration(this.database.db, id);
    if (row === undefined) throw new Error(`generation ${id} does not exist`);
    return row;
  }

  /** How often a worker has begun to read the media of a file. */
  async timesRead(id: string): Promise<number | undefined> {
    const media = this.database.db.selectFrom('media').select('attempts').where('file_id', '=', id);
    return (await media.executeTakeFirst())?.attempts;
  }

  async #stages(id: string) {
    return parseJson((await this.row(id)).stages);
  }

  /** The number of submits that were reserved for a generation, over all stages. */
  async intents(id: string): Promise<number> {
    return Object.values(await this.#stages(id)).reduce((sum, stage) => sum + stage.intents, 0);
  }

  /** Waits until the provider has accepted the order. */
  async waitForOrder(id: string): Promise<void> {
    await until(`${id} has a provider job`, async () => (await this.#stages(id))['submit']?.job);
  }

  get database(): OpenDatabase {
    this.#database ??= this.#disposed.use(this.#openDatabase());
    return this.#database;
  }

  #openDatabase = (): OpenDatabase => openDatabase(readConfig(this.settings).database, () => {});

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#disposed.disposeAsync();
  }
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
