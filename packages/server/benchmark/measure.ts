import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';

/** CPU time in microseconds: of the server's process, and with the processes of the database that worked for it. */
export interface Cost {
  server: number;
  total: number;
}

/** Returns the CPU time of a process in microseconds, from the scheduler's counters of its threads. */
function cpuOf(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  }
  return nanoseconds / 1000;
}

export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** A database process, by its id, may end between the query and the reading of its counters. */
function cpuIfAlive(pid: number): number {
  try {
    return cpuOf(pid);
  } catch {
    return 0;
  }
}

/** Measures the CPU time of server processes and, on Postgres, of the database's processes. */
export class Meter implements AsyncDisposable {
  readonly #client: pg.Client | null;

  private constructor(client: pg.Client | null) {
    this.#client = client;
  }

  static async open(postgresUrl?: string): Promise<Meter> {
    if (process.platform !== 'linux') throw new Error('the benchmark reads CPU times from /proc: run it on Linux');
    if (postgresUrl === undefined) return new Meter(null);
    const client = new pg.Client({ connectionString: postgresUrl, application_name: 'benchmark' });
    // Otherwise a database that stops during a measurement would end the process before its cleanup.
    client.on('error', () => {});
    await client.connect();
    return new Meter(client);
  }

  /** Returns the CPU time that the processes spend on the work. */
  async costOf(server: Measured, work: () => Promise<unknown>): Promise<Cost> {
    const before = await this.#read(server);
    await work();
    const after = await this.#read(server);
    const own = after.server - before.server;
    let total = own;
    for (const [pid, time] of after.database) total += time - (before.database.get(pid) ?? 0);
    return { server: own, total };
  }

  async #read({ pid, applicationName }: Measured) {
    const backends = await this.#backendsOf(applicationName);
    return { server: cpuOf(pid), database: new Map(backends.map((backend) => [backend, cpuIfAlive(backend)])) };
  }

  /** The sessions of the server, and the background processes, which write on its behalf. */
  async #backendsOf(applicationName: string): Promise<number[]> {
    if (this.#client === null) return [];
    const { rows } = await this.#client.query<{ pid: number }>({
      name: 'backends',
      text: `select pid from pg_stat_activity where application_name = $1 or backend_type <> 'client backend'`,
      values: [applicationName],
    });
    return rows.map((row) => row.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.end();
  }
}

export interface Measured {
  pid: number;
  /** The name of its sessions on Postgres. */
  applicationName: string;
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = low] = sorted.length % 2 === 0 ? sorted.slice(middle - 1) : sorted.slice(middle);
  return sorted.length % 2 === 0 ? (low + high) / 2 : low;
}
