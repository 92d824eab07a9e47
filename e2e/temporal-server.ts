import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { freePort } from '../scripts/free-port.ts';
import { findTemporal } from '../scripts/temporal.ts';
import { big, lacking } from '../scripts/testing.ts';
import { Program, readOutput, until } from './processes.ts';

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
  #client: Client | undefined;

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
    const program = new Program(this.#binary, [...args, '--ip', ip, '--port', port], {});
    this.#program = program;
    const connection = await until(
      'Temporal accepts calls',
      () => {
        program.assertRunning();
        return Connection.connect({ address: this.address, connectTimeout: 1000 }).catch(() => null);
      },
      120_000,
    );
    this.#client = new Client({ connection });
  }

  async kill(): Promise<void> {
    await this.#client?.connection.close();
    this.#client = undefined;
    await this.#program?.end('SIGKILL');
  }

  async pause(milliseconds: number): Promise<void> {
    await this.#program?.pause(milliseconds);
  }

  async forget(): Promise<void> {
    for (const part of ['', '-wal', '-shm', '-journal']) await rm(this.#store + part, { force: true });
  }

  get #workflows() {
    if (this.#client === undefined) throw new Error('Temporal is not running.');
    return this.#client.workflow;
  }

  async describe(workflowId: string): Promise<{ type: string; status: string; historyLength: number }> {
    const { type, status, historyLength } = await this.#workflows.getHandle(workflowId).describe();
    return { type, status: status.name, historyLength };
  }

  /** The number of runs of this workflow id in the store. */
  async countRuns(workflowId: string): Promise<number> {
    return (await this.#workflows.count(`WorkflowId = "${workflowId}"`)).count;
  }

  /** By the command line, because it writes the format that the replay test reads. */
  history = (workflowId: string): Promise<string> =>
    readOutput(this.#binary, [
      'workflow',
      'show',
      '--workflow-id',
      workflowId,
      '--output',
      'json',
      '--address',
      this.address,
    ]);

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
