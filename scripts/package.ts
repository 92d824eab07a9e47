import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';

// Writes the built server, worker and console into a folder, with the packages that they need to run and no others. Images and
// deploy/install.sh use it.
const root = resolve(import.meta.dirname, '..');
const [target] = process.argv.slice(2);
if (target === undefined) {
  console.error('Name the folder: npm run package -- <folder>');
  process.exit(2);
}
const folder = resolve(target);
for (const name of ['server', 'worker']) {
  const words = ['--filter', `@review/${name}`, 'deploy', '--legacy', '--prod', join(folder, name)];
  const { status } = spawnSync('pnpm', words, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
cpSync(join(root, 'apps/dev-console/dist'), join(folder, 'console'), { recursive: true });
console.error(`The build is in ${folder}.`);
