import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { freePort } from '../scripts/free-port.ts';
import { createKey, useService, waitForAnswer } from './deployed.ts';
import { Program, readOutput } from './processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'review-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('`npm run package` makes a build that runs without the repository', async () => {
  const build = join(folder, 'build');
  await readOutput(process.execPath, [resolve(import.meta.dirname, '../scripts/package.ts'), build]);
  // Packages for development only.
  for (const name of ['vitest', 'typescript']) {
    expect(['server', 'worker'].filter((part) => existsSync(join(build, part, 'node_modules', name)))).toEqual([]);
  }
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const settings = {
    DATA_DIR: join(folder, 'data'),
    WORK_DIR: join(folder, 'work'),
    CONSOLE_DIR: join(build, 'console'),
    PORT: port,
    PUBLIC_URL: url,
    SERVER_URL: url,
  };
  const start = (part: string) => new Program(process.execPath, [join(build, part, 'dist/main.js')], settings);
  await using server = start('server');
  await waitForAnswer('the server', `${url}/readyz`, server);
  await using worker = start('worker');
  await worker.waitForOutput('"ready"');
  await useService(url, await createKey(settings, join(build, 'server/dist/commands/main.js')));
});
