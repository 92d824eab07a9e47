import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Client, createClient } from '@review/client';
import { findModel, Stage } from '@review/contract';
import { z } from 'zod';
import { freePort } from './dev-process.ts';
import { Program, printed, until } from './processes.ts';

const repository = resolve(import.meta.dirname, '..');
const Demo = z.object({
  people: z.array(z.object({ key: z.string() })),
  projects: z.array(z.object({ id: z.string() })),
});
const Row = z.object({
  engine: z.string().nullable(),
  epoch: z.number(),
  stages: z.string().transform((text) => z.record(z.string(), Stage).parse(JSON.parse(text))),
});

/** The built server and workers as processes of their own, over one data directory. */
export class House implements AsyncDisposable {
  readonly directory: string;
  readonly url: string;
  readonly #settings: Record<string, string>;
  readonly #programs: Program[] = [];
  #client: Client | undefined;
  #key = '';
  #project = '';

  private constructor(directory: string, port: string, settings: Record<string, string>) {
    this.directory = directory;
    this.url = `http://127.0.0.1:${port}`;
    this.#settings = {
      DATA_DIR: directory,
      PORT: port,
      PUBLIC_URL: this.url,
      SERVER_URL: this.url,
      RATE_LIMITS: 'off',
      CONSOLE_DIR: 'off',
      GENERATION_SLOTS: 'DOCUMENT=50,IMAGE=50,VIDEO=50,3D=50',
      SANDBOX_MILLISECONDS: '300',
      ...settings,
    };
  }

  static async build(settings: Record<string, string>): Promise<House> {
    return new House(await mkdtemp(join(tmpdir(), 'review-house-')), await freePort(), settings);
  }

  async startServer(settings: Record<string, string> = {}): Promise<Program> {
    const server = this.#run('packages/server/dist/main.js', settings);
    await server.said('"listening"');
    if (this.#client === undefined) {
      const command = join(repository, 'packages/server/dist/commands/main.js');
      const text = await printed(process.execPath, [command, 'demo', '--json'], this.#settings);
      const demo = Demo.parse(JSON.parse(text));
      this.#key = demo.people[0]?.key ?? '';
      this.#client = this.clientAt(this.url);
      this.#project = demo.projects[0]?.id ?? '';
    }
    return server;
  }

  /** A worker that has said hello. */
  async startWorker(name: string, settings: Record<string, string> = {}): Promise<Program> {
    const WORK_DIR = join(this.directory, name);
    const worker = this.#run('packages/worker/dist/main.js', { WORKER_NAME: name, WORK_DIR, ...settings });
    await worker.said('"ready"');
    return worker;
  }

  clientAt = (baseUrl: string): Client => createClient({ baseUrl, token: this.#key, retries: 0 });

  get client(): Client {
    if (this.#client === undefined) throw new Error('the server was never started');
    return this.#client;
  }

  async generate(outputModel: string, prompt: string, client = this.client): Promise<string> {
    const outputType = findModel(outputModel)?.outputType ?? 'DOCUMENT';
    const body = { outputType, outputModel, prompt, folder: null, attachments: [] };
    const { data } = await client.generation.generate({ params: { id: this.#project }, body });
    return data.id;
  }

  async file(id: string, wait = 0) {
    return (await this.client.files.get({ params: { id }, query: { wait } })).data;
  }

  async ended(id: string, milliseconds = 60_000) {
    return until(
      `${id} has ended`,
      async () => {
        const file = await this.file(id, 5);
        return ['UPLOADED', 'FAILED', 'CANCELED'].includes(file.status) && file;
      },
      milliseconds,
    );
  }

  async running(id: string): Promise<void> {
    await until(`${id} runs`, async () => (await this.file(id)).generation?.status === 'RUNNING');
  }

  row(id: string): z.infer<typeof Row> {
    using database = this.#database();
    return Row.parse(database.prepare('select engine, epoch, stages from generations where file_id = ?').get(id));
  }

  /** How often the order of a generation was meant to be placed. */
  intents(id: string): number {
    return Object.values(this.row(id).stages).reduce((sum, stage) => sum + stage.intents, 0);
  }

  /** As somebody would who writes into the database past the service. */
  setConfigs(id: string, configs: unknown): void {
    using database = this.#database();
    database.prepare('update generations set configs = ? where file_id = ?').run(JSON.stringify(configs), id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs.toReversed()) await program[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true, force: true });
  }

  #run(path: string, settings: Record<string, string>): Program {
    const program = new Program(process.execPath, [join(repository, path)], { ...this.#settings, ...settings });
    this.#programs.push(program);
    return program;
  }

  #database() {
    const database = new DatabaseSync(join(this.directory, 'review.db'), { timeout: 5000 });
    return Object.assign(database, { [Symbol.dispose]: () => database.close() });
  }
}
