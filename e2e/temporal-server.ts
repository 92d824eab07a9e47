import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { findTemporal } from '../scripts/temporal.ts';
import { big, lacking } from '../scripts/testing.ts';
import { freePort } from './dev-process.ts';
import { Program, readOutput, until } from './processes.ts';

const Described = z.object({
  workflowExecutionInfo: z.object({
    status: z.string(),
    historyLength: z.string().transform(Number),
    type: z.object({ name: z.string() }),
  }),
});

/** Ignores a running server: tests must not kill it or delete its data. */
function findBinary(): string | undefined {
  const found = findTemporal();
  return found !== undefined && 'binary' in found ? found.binary : undefined;
}

const REMEDY = 'npm run temporal -- --install, without TEMPORAL_ADDRESS';

/** For `describe.skipIf`. */
export const lacksTemporal = (): boolean =>
  findBinary() === undefined && lacking('a Temporal server of its own', REMEDY);

type Engine = 'embedded' | 'temporal';

export const bothEngines = (): Engine[] => ['embedded', ...(lacksTemporal() ? [] : (['temporal'] as const))];

/** `npm test` uses the embedded engine; `npm run test:big` repeats the tests under Temporal, where each kill costs a heartbeat timeout. */
export const ENGINES: Engine[] = big ? (lacksTemporal() ? [] : ['temporal']) : ['embedded'];

/** A Temporal development server on a free port. It can be killed, restarted, and reset to an empty store. */
export class TemporalServer implements AsyncDisposable {
  readonly address: string;
  readonly #binary: string;
  readonly #folder: string;
  readonly #store: string;
  #program: Program | undefined;

  private constructor(binary: string, folder: string, port: string) {
    this.#binary = binary;
    this.#folder = folder;
    this.#store = join(folder, 'temporal.db');
    this.address = `127.0.0.1:${port}`;
  }

  /** Creates the server without starting it. */
  static async create(): Promise<TemporalServer> {
    const binary = findBinary();
    if (binary === undefined) throw new Error(`Temporal was not found: ${REMEDY}`);
    return new TemporalServer(binary, await mkdtemp(join(tmpdir(), 'review-temporal-')), await freePort());
  }

  static async start(): Promise<TemporalServer> {
    const temporal = await TemporalServer.create();
    await temporal.start();
    return temporal;
  }

  async start(): Promise<void> {
    const [ip = '', port = ''] = this.address.split(':');
    const args = ['server', 'start-dev', '--headless', '--log-level', 'error', '--db-filename', this.#store];
    this.#program = new Program(this.#binary, [...args, '--ip', ip, '--port', port], {});
    await until('Temporal is healthy', () =>
      this.#ask('operator', 'cluster', 'health').then(
        (text) => text.includes('SERVING'),
        () => false,
      ),
    );
  }

  async kill(): Promise<void> {
    await this.#program?.end('SIGKILL');
  }

  async forget(): Promise<void> {
    for (const part of ['', '-wal', '-shm', '-journal']) await rm(this.#store + part, { force: true });
  }

  async describe(workflowId: string): Promise<{ type: string; status: string; historyLength: number }> {
    const text = await this.#ask('workflow', 'describe', '--workflow-id', workflowId, '--output', 'json');
    const { status, historyLength, type } = Described.parse(JSON.parse(text)).workflowExecutionInfo;
    return { type: type.name, status: status.replace('WORKFLOW_EXECUTION_STATUS_', ''), historyLength };
  }

  /** The number of runs of this workflow id in the store. */
  async countRuns(workflowId: string): Promise<number> {
    const query = `WorkflowId = "${workflowId}"`;
    const text = await this.#ask('workflow', 'list', '--query', query, '--output', 'json');
    return z.array(z.unknown()).parse(JSON.parse(text)).length;
  }

  history = (workflowId: string): Promise<string> =>
    this.#ask('workflow', 'show', '--workflow-id', workflowId, '--output', 'json');

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #ask = (...args: string[]): Promise<string> =>
    readOutput(this.#binary, [...args, '--address', this.address, '--command-timeout', '5s']);
}
