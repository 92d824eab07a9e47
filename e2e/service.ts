import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from '@review/client';
import type { FileRecord, GenerateRequest } from '@review/contract';
import { field } from '../scripts/json-field.ts';
import { freePort } from './dev-process.ts';
import { Program } from './processes.ts';

const packages = resolve(import.meta.dirname, '..', 'packages');
const FINAL = ['UPLOADED', 'FAILED', 'CANCELED'];

export type Asked = Pick<GenerateRequest, 'outputType' | 'outputModel' | 'prompt'> & Partial<GenerateRequest>;

/** A server and its workers on this host, with data of their own; each can be killed and started again. */
export class Service {
  readonly url: string;
  readonly folder: string;
  readonly settings: Record<string, string>;
  readonly workers = new Set<Program>();
  server: Program;
  client: Client;
  projectId = '';

  private constructor(port: string, folder: string, settings: Record<string, string>) {
    this.url = `http://127.0.0.1:${port}`;
    this.folder = folder;
    this.settings = {
      DATA_DIR: join(folder, 'data'),
      WORK_DIR: join(folder, 'work'),
      PORT: port,
      PUBLIC_URL: this.url,
      CONSOLE_DIR: 'off',
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'warn',
      SERVER_URL: this.url,
      ...settings,
    };
    this.server = this.#run('server/dist/main.js');
    this.client = createClient({ baseUrl: this.url, token: '' });
  }

  static async start(settings: Record<string, string> = {}): Promise<Service> {
    const folder = await mkdtemp(join(tmpdir(), 'review-e2e-'));
    const service = new Service(await freePort(), folder, settings);
    await service.#ready();
    const demo = service.#run('server/dist/commands/main.js', {}, ['demo', '--json']);
    if ((await demo.exit) !== 0) throw new Error(demo.output);
    const made: unknown = JSON.parse(demo.output);
    const first = (list: unknown) => (Array.isArray(list) ? list[0] : undefined);
    const token = String(field(first(field(made, 'people')), 'key'));
    service.client = createClient({ baseUrl: service.url, token, retries: 0 });
    service.projectId = String(field(first(field(made, 'projects')), 'id'));
    return service;
  }

  #run(path: string, settings: Record<string, string> = {}, words: string[] = []): Program {
    return new Program(process.execPath, [join(packages, path), ...words], { ...this.settings, ...settings });
  }

  async #ready(): Promise<void> {
    for (;;) {
      const answer = await fetch(`${this.url}/readyz`).catch(() => null);
      if (answer?.ok) return;
      if (this.server.child.exitCode !== null) throw new Error(`the server ended:\n${this.server.output}`);
      await sleep(20);
    }
  }

  async restartServer(): Promise<void> {
    await this.server.end();
    this.server = this.#run('server/dist/main.js');
    await this.#ready();
  }

  async startWorker(name: string, settings: Record<string, string> = {}): Promise<Program> {
    const worker = this.#run('worker/dist/main.js', { WORKER_NAME: name, LOG_LEVEL: 'info', ...settings });
    this.workers.add(worker);
    void worker.exit.then(() => this.workers.delete(worker));
    await worker.said('"ready"');
    return worker;
  }

  async generate(asked: Asked): Promise<string> {
    const body = { folder: null, attachments: [], ...asked };
    return (await this.client.generation.generate({ params: { id: this.projectId }, body })).data.id;
  }

  async file(id: string, wait = 0): Promise<FileRecord> {
    return (await this.client.files.get({ params: { id }, query: { wait } })).data;
  }

  async ended(id: string, seconds = 40): Promise<FileRecord> {
    const deadline = Date.now() + seconds * 1000;
    for (;;) {
      const file = await this.file(id, 5).catch(() => null);
      if (file && FINAL.includes(file.status)) return file;
      if (Date.now() > deadline) throw new Error(`${id} is still ${JSON.stringify(file?.generation)}`);
      if (file === null) await sleep(100);
    }
  }

  async bytesOf(id: string): Promise<Buffer> {
    const { data } = await this.client.files.download({ params: { id } });
    const answer = await fetch(data.url);
    if (!answer.ok) throw new Error(`the download answers ${answer.status}`);
    return Buffer.from(await answer.arrayBuffer());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.workers].map((worker) => worker.end()));
    await this.server.end();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
