import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findProgram } from '../scripts/find-program.ts';
import { freePort } from '../scripts/free-port.ts';
import { lacking } from '../scripts/testing.ts';
import { createKey, useService, waitForAnswer } from './deployed.ts';
import { Program } from './processes.ts';

const root = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'review-install-'));
const [build, destination] = [join(folder, 'build'), join(folder, 'host')];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The layout of `npm run package`, which takes too long here: the packages that the programs need are links. */
function packageBuild(): void {
  for (const name of ['server', 'worker']) {
    mkdirSync(join(build, name), { recursive: true });
    for (const part of ['dist', 'package.json']) {
      cpSync(join(root, 'packages', name, part), join(build, name, part), { recursive: true });
    }
    symlinkSync(join(root, 'packages', name, 'node_modules'), join(build, name, 'node_modules'));
  }
  cpSync(join(root, 'apps/dev-console/dist'), join(build, 'console'), { recursive: true });
}

function install(words: string[], settings: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync('sh', [join(root, 'deploy/install.sh'), ...words], {
    env: { PATH: process.env['PATH'], NODE: process.execPath, DESTDIR: destination, ...settings },
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

const settingsOf = (name: string) => parseEnv(readFileSync(join(destination, 'etc/review', name), 'utf8'));
const modeOf = (path: string) => (statSync(join(destination, path)).mode & 0o777).toString(8);

beforeAll(() => {
  packageBuild();
  const { status, output } = install([build], { PUBLIC_URL: 'https://review.example.com' });
  if (status !== 0) throw new Error(output);
});

test.each([
  ['no folder', [], {}, 'name the folder of the build'],
  ['a folder without a build', [tmpdir()], {}, 'does not exist; make a build with'],
  ['no Node.js', [build], { NODE: '/nowhere/node' }, 'Node.js was not found'],
  ['no address of the service', [build], { DESTDIR: join(folder, 'other') }, 'set PUBLIC_URL'],
])('with %s it says what to do and installs nothing', (_case, words, settings, message) => {
  const { status, output } = install(words, settings);
  expect([status, output]).toEqual([1, expect.stringContaining(message)]);
  expect(existsSync(join(folder, 'other'))).toBe(false);
});

test('only the service can read its secrets, and both programs have the same token', () => {
  expect([modeOf('etc/review'), modeOf('etc/review/server.env'), modeOf('etc/review/worker.env')]).toEqual([
    '750',
    '600',
    '600',
  ]);
  const [server, worker] = [settingsOf('server.env'), settingsOf('worker.env')];
  expect(server['SECRET_KEY']).toMatch(/^[0-9a-f]{64}$/);
  expect(server['WORKER_TOKEN']).toMatch(/^[0-9a-f]{64}$/);
  expect(server['SECRET_KEY']).not.toBe(server['WORKER_TOKEN']);
  expect(worker['WORKER_TOKEN']).toBe(server['WORKER_TOKEN']);
  expect(server['PUBLIC_URL']).toBe('https://review.example.com');
});

test('a second run keeps settings and secrets, and the release before it', () => {
  const file = join(destination, 'etc/review/server.env');
  writeFileSync(file, `${readFileSync(file, 'utf8')}LOG_LEVEL=warn\n`);
  const before = readFileSync(file, 'utf8');
  const releases = join(destination, 'opt/review/releases');
  // Releases are named by the second, and this test does not wait for another one.
  const first = readlinkSync(join(destination, 'opt/review/current'));
  cpSync(join(destination, 'opt/review', first), join(releases, '0.0.1-older'), { recursive: true });
  expect(install([build]).status).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe(before);
  const current = readlinkSync(join(destination, 'opt/review/current'));
  expect(readdirSync(releases).sort()).toEqual([...new Set([first, current].map((path) => path.split('/')[1]))].sort());
});

test('server and worker run from the installed files', async () => {
  const [port, workerPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const installed = (path: string) => join(destination, path);
  // What differs from a host on which DESTDIR is /.
  const server = {
    REVIEW_ENV_FILE: installed('etc/review/server.env'),
    DATA_DIR: join(folder, 'data'),
    CONSOLE_DIR: installed(settingsOf('server.env')['CONSOLE_DIR'] ?? ''),
    PORT: port,
    PUBLIC_URL: url,
  };
  const worker = {
    REVIEW_ENV_FILE: installed('etc/review/worker.env'),
    SERVER_URL: url,
    WORK_DIR: join(folder, 'work'),
    WORKER_PORT: workerPort,
  };
  const run = (unit: string, settings: Record<string, string>) => {
    const [program = '', ...words] = commandOf(unit).map((word) => (word.startsWith('/') ? installed(word) : word));
    return new Program(program, words, settings);
  };
  await using serverProgram = run('review-server', server);
  await waitForAnswer('the server', `${url}/readyz`, serverProgram);
  await using workerProgram = run('review-worker', worker);
  await workerProgram.waitForOutput('"ready"');
  const command = installed('opt/review/current/server/dist/commands/main.js');
  await useService(url, await createKey(server, command));
  expect(await (await fetch(url)).text()).toContain('<div id="console">');
});

/** Installs twice with a `systemctl` that prints its arguments. The files of this host change in a mount namespace only. */
const INSTALL_ON_HOST = `
set -eu
changes=$1
mount -t tmpfs tmpfs "$changes"
for folder in etc opt usr/local var/lib; do
  mkdir -p "$changes/$folder/upper" "$changes/$folder/work"
  mount -t overlay -o "lowerdir=/$folder,upperdir=$changes/$folder/upper,workdir=$changes/$folder/work" overlay "/$folder"
done
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system "$changes/bin"
printf '#!/bin/sh\necho "systemctl $*"\n' >"$changes/bin/systemctl"
chmod +x "$changes/bin/systemctl"
export PATH="$changes/bin:$PATH"
shift
"$@"
"$@"
/usr/local/bin/review workspace create --name Studio
getent passwd review | cut -d : -f 1,6,7
stat --format '%U:%G %a %n' /etc/review /etc/review/server.env /etc/review/worker.env /opt/review/current/ /usr/local/bin/review /var/lib/review
`;

describe.skipIf(process.getuid?.() !== 0 && lacking('root, to install on a host', 'run the tests as root'))(
  'on a host with systemd',
  () => {
    test('it creates the user and the database, and enables and restarts the server before the worker', () => {
      const changes = join(folder, 'changes');
      mkdirSync(changes);
      const command = ['sh', join(root, 'deploy/install.sh'), build];
      const { status, stdout, stderr } = spawnSync(
        'unshare',
        ['--mount', 'sh', '-c', INSTALL_ON_HOST, 'sh', changes, ...command],
        {
          env: { PATH: process.env['PATH'], NODE: process.execPath, PUBLIC_URL: 'https://review.example.com' },
          encoding: 'utf8',
        },
      );
      expect(stderr.replaceAll('Database: sqlite:/var/lib/review/review.db\n', '')).toBe('');
      expect(status).toBe(0);
      const installed = [
        'systemctl daemon-reload',
        'systemctl enable review-server.service review-worker.service',
        'systemctl restart review-server.service',
        'systemctl restart review-worker.service',
        expect.stringMatching(/^install: release \S+ is in \/opt\/review\/current; its settings are in \/etc\/review$/),
      ];
      expect(stdout.trim().split('\n')).toEqual([
        expect.stringMatching(/^Applied 0001-/),
        ...installed,
        'The schema is up to date.',
        ...installed,
        expect.stringMatching(/^Workspace \S+$/),
        'review:/var/lib/review:/usr/sbin/nologin',
        'root:review 750 /etc/review',
        'review:review 600 /etc/review/server.env',
        'review:review 600 /etc/review/worker.env',
        'root:root 755 /opt/review/current/',
        'root:root 755 /usr/local/bin/review',
        'review:review 700 /var/lib/review',
      ]);
    });
  },
);

const unitFile = (name: string) => readFileSync(join(destination, `etc/systemd/system/${name}.service`), 'utf8');
const commandOf = (name: string) => (/^ExecStart=(.*)$/m.exec(unitFile(name))?.[1] ?? '').split(' ');

test('the unit of the server has its Node options and time to stop', () => {
  const flags: unknown = JSON.parse(readFileSync(join(root, 'packages/server/node-flags.json'), 'utf8'));
  expect(commandOf('review-server').slice(1, -1)).toEqual(flags);
  const seconds = (name: string) => Number(/^TimeoutStopSec=(\d+)$/m.exec(unitFile(name))?.[1]);
  // DRAIN_SECONDS and SHUTDOWN_SECONDS, and the time after which a worker ends running steps.
  expect(seconds('review-server')).toBeGreaterThan(5 + 25);
  expect(seconds('review-worker')).toBeGreaterThan(40);
});

const analyze = findProgram(['systemd-analyze']);

describe.skipIf(analyze === undefined && lacking('systemd-analyze', 'apt-get install systemd'))('systemd', () => {
  const run = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(analyze ?? '', words, { encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };
  const units = ['review-server', 'review-worker'];

  test.each(units)('accepts %s', (name) => {
    // It checks that the programs exist, which are under DESTDIR here.
    const unit = join(folder, `${name}.service`);
    writeFileSync(unit, unitFile(name).replaceAll('/opt/review/', `${destination}/opt/review/`));
    expect(run('verify', '--man=no', unit)).toEqual({ status: 0, output: '' });
  });

  test.each(units)('finds %s well confined', (name) => {
    const { status, output } = run(
      'security',
      '--offline=yes',
      '--threshold=20',
      '--no-pager',
      join(destination, `etc/systemd/system/${name}.service`),
    );
    expect([status, output.split('\n').at(-2)]).toEqual([0, expect.stringContaining('OK')]);
  });
});
