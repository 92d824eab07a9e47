import { execFile, execFileSync, spawn } from 'node:child_process';
import { chownSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { isExecutable } from '../../../../scripts/find-program.ts';
import { freePort } from '../../../../scripts/free-port.ts';
import { eventually } from './eventually.ts';

// The embedded Postgres of the other tests has no pg_dump, and pg_dump refuses a server that is newer than itself. So this
// is the server that is installed beside pg_dump.

const PROGRAMS = ['initdb', 'postgres', 'pg_basebackup', 'pg_dump', 'pg_restore'];

/** Returns the folder of the programs. */
export function findInstalledPostgres(): string | undefined {
  const onPath = (process.env['PATH'] ?? '').split(delimiter);
  const installed = globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed();
  return [...onPath, ...installed].find((folder) => PROGRAMS.every((name) => isExecutable(join(folder, name))));
}

/** Creates and starts an installed Postgres, which archives its write-ahead log in `wal`. */
export async function startInstalledPostgres(programs: string) {
  const account = otherThanRoot();
  const folder = mkdtempSync(join(tmpdir(), 'review-installed-'));
  const [data, wal] = [join(folder, 'data'), join(folder, 'wal')];
  mkdirSync(wal);
  if (account) for (const path of [folder, wal]) chownSync(path, account.uid, account.gid);
  const flags = ['--no-sync', '--auth=trust', '--username=postgres', '--encoding=UTF8', '--locale=C'];
  execFileSync(join(programs, 'initdb'), [...flags, `--pgdata=${data}`], { ...account, stdio: 'ignore' });
  const archive = ['-c', 'archive_mode=on', '-c', `archive_command=cp %p ${wal}/%f`];
  const server = await startOn(programs, data, archive);
  return {
    ...server,
    wal,
    async createDatabase(name: string): Promise<string> {
      await server.query(`create database ${name}`);
      return server.urlOf(name);
    },
    /** Runs a line of the shell, whose programs are those of this Postgres. */
    async run(line: string, environment: Record<string, string>): Promise<string> {
      const env = { ...environment, PATH: `${programs}${delimiter}${process.env['PATH']}` };
      return (await promisify(execFile)('sh', ['-c', line], { env })).stdout;
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Starts the installed Postgres on a directory that it has not created, such as a base backup. */
export async function startOnCopy(programs: string, data: string) {
  const account = otherThanRoot();
  if (account) execFileSync('chown', ['-R', `${account.uid}:${account.gid}`, data]);
  return startOn(programs, data, []);
}

async function startOn(programs: string, data: string, settings: string[]) {
  const port = await freePort();
  const words = ['-D', data, '-p', port, '-k', '', '-c', 'fsync=off', ...settings];
  const server = spawn(join(programs, 'postgres'), words, { ...otherThanRoot(), stdio: 'ignore' });
  const exit = new Promise((resolve) => server.once('exit', resolve));
  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const query = async (statement: string, database = 'postgres'): Promise<unknown[]> => {
    const client = new pg.Client({ connectionString: urlOf(database) });
    await client.connect();
    return (await client.query(statement).finally(() => client.end())).rows;
  };
  const isReady = () =>
    query('select 1 where not pg_is_in_recovery()').then(
      (rows) => rows.length === 1,
      () => false,
    );
  await eventually(isReady, 'Postgres accepts writes');
  return {
    urlOf,
    query,
    async [Symbol.asyncDispose]() {
      server.kill('SIGINT');
      await exit;
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
