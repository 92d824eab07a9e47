import { eventually } from '../../test/eventually.ts';
import { type House, json } from '../../test/house.ts';
import { type ServerProcess, startServer } from '../../test/server-process.ts';

export const SETTINGS = {
  SERVER_PROCESSES: '2',
  LOG_LEVEL: 'info',
  SECRET_KEY: 'the same in all processes, 32 characters',
};

interface LogLine {
  pid: number;
  msg: string;
}

/** Starts two processes behind one port and waits until both listen. */
export async function startProcesses(house: House, settings: Record<string, string> = {}) {
  const lines: LogLine[] = [];
  const server = await startServer({ DATABASE_URL: house.databaseUrl, ...SETTINGS, ...settings }, (line) => {
    if (line.startsWith('{')) lines.push(JSON.parse(line));
  });
  const listening = () => lines.filter(({ msg }) => msg === 'server listening').map(({ pid }) => pid);
  await eventually(async () => listening().length === 2, 'both processes listen');
  return { server, lines, listening };
}

/** Calls without keep-alive, so that each connection may go to another process. */
export const call = (server: ServerProcess, house: House, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(server.url + path, {
    ...init,
    headers: { ...init.headers, connection: 'close', authorization: `Bearer ${house.people.owner.key}` },
  });

export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The number of concurrent calls of tier 2 that the limit admits. */
export async function admitted(server: ServerProcess, house: House, calls: number): Promise<number> {
  const path = `/api/projects/${house.projectId}/files/upload.generate`;
  const statuses = await Promise.all(
    Array.from({ length: calls }, async () => {
      const answer = await call(server, house, path, { method: 'POST', ...json({}) });
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
  return statuses.filter((status) => status !== 429).length;
}
