import { execFile, execFileSync, spawn } from 'node:child_process';
import { chownSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { isExecutable } from '../../../../scripts/find-program.ts';
import { freePort } from '../../../../scripts/free-port.ts';
import { eventually } from './eventually.ts';

// The embedded Postgres of the other tests has no pg_dump, and pg_dump refuses a server that is newer than itself. So this
// is the server that is installed beside pg_dump.

const PROGRAMS = ['initdb', 'postgres', 'pg_dump', 'pg_restore'];

/** Returns the folder of the programs. */
export function findInstalledPostgres(): string | undefined {
  const onPath = (process.env['PATH'] ?? '').split(delimiter);
  const installed = globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed();
  return [...onPath, ...installed].find((folder) => PROGRAMS.every((name) => isExecutable(join(folder, name))));
}

/** Starts the installed Postgres with a database of its own. */
export async function startInstalledPostgres(programs: string) {
  const folder = mkdtempSync(join(tmpdir(), 'review-installed-'));
  const account = otherThanRoot();
  if (account) chownSync(folder, account.uid, account.gid);
  const data = join(folder, 'data');
  const port = await freePort();
  const options = { ...account, stdio: 'ignore' } as const;
  const flags = ['--no-sync', '--auth=trust', '--username=postgres', '--encoding=UTF8', '--locale=C'];
  execFileSync(join(programs, 'initdb'), [...flags, `--pgdata=${data}`], options);
  const server = spawn(join(programs, 'postgres'), ['-D', data, '-p', port, '-k', '', '-c', 'fsync=off'], options);
  const exit = new Promise((resolve) => server.once('exit', resolve));
  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const execute = async (statement: string) => {
    const client = new pg.Client({ connectionString: urlOf('postgres') });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  const isReady = () =>
    execute('select 1').then(
      () => true,
      () => false,
    );
  await eventually(isReady, 'Postgres accepts connections');
  return {
    async createDatabase(name: string): Promise<string> {
      await execute(`create database ${name}`);
      return urlOf(name);
    },
    /** Runs a line of the shell, whose programs are those of this Postgres. */
    async run(line: string, environment: Record<string, string>): Promise<string> {
      const env = { ...environment, PATH: `${programs}${delimiter}${process.env['PATH']}` };
      return (await promisify(execFile)('sh', ['-c', line], { env })).stdout;
    },
    async [Symbol.asyncDispose]() {
      server.kill('SIGINT');
      await exit;
      rmSync(folder, { recursive: true });
    },
  };
}

/** The user of Postgres, which refuses to run as root. */
function otherThanRoot(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  if (uid === undefined) throw new Error('Postgres refuses to run as root, and there is no user postgres.');
  return { uid: Number(uid), gid: Number(gid) };
}
