import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { freePort } from './dev-process.ts';
import { Program, printed, until } from './processes.ts';

const Described = z.object({
  workflowExecutionInfo: z.object({
    status: z.string(),
    historyLength: z.string().transform(Number),
    type: z.object({ name: z.string() }),
  }),
});

/** A development server of Temporal on a free port, which can be killed, started again, and made to forget. */
export class TemporalServer implements AsyncDisposable {
  readonly address: string;
  readonly #binary: string;
  readonly #store: string;
  #program: Program | undefined;

  private constructor(binary: string, store: string, port: string) {
    this.#binary = binary;
    this.#store = store;
    this.address = `127.0.0.1:${port}`;
  }

  static async at(binary: string, store: string): Promise<TemporalServer> {
    return new TemporalServer(binary, store, await freePort());
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

  /** How often a workflow was started under this id, as far as the store reaches. */
  async countRuns(workflowId: string): Promise<number> {
    const query = `WorkflowId = "${workflowId}"`;
    const text = await this.#ask('workflow', 'list', '--query', query, '--output', 'json');
    return z.array(z.unknown()).parse(JSON.parse(text)).length;
  }

  history = (workflowId: string): Promise<string> =>
    this.#ask('workflow', 'show', '--workflow-id', workflowId, '--output', 'json');

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #ask = (...args: string[]): Promise<string> =>
    printed(this.#binary, [...args, '--address', this.address, '--command-timeout', '5s']);
}
