import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

// Packs the built client with the contract inside, as one file that npm and pnpm install, and prints its path.
const root = resolve(import.meta.dirname, '..');
const [target] = process.argv.slice(2);
if (target === undefined) {
  console.error('Name the folder: npm run package:client -- <folder>');
  process.exit(2);
}
const folder = resolve(target);
const draft = mkdtempSync(join(tmpdir(), 'review-client-'));

interface Manifest {
  name: string;
  version: string;
  dependencies: Record<string, string>;
}

/** Packs a package of the workspace, extracts it into the folder, and returns its manifest. */
function unpack(name: string, into: string): Manifest {
  const words = ['pack', '--pack-destination', draft, '--json'];
  execFileSync('pnpm', words, { cwd: join(root, 'packages', name), stdio: ['ignore', 'ignore', 2] });
  const file = readdirSync(draft).find((each) => each.startsWith(`review-${name}-`)) ?? '';
  mkdirSync(into, { recursive: true });
  execFileSync('tar', ['-xzf', join(draft, file), '-C', into, '--strip-components=1']);
  return JSON.parse(readFileSync(join(into, 'package.json'), 'utf8'));
}

const client = join(draft, 'package');
const contract = join(client, 'node_modules/@review/contract');
const manifest = unpack('client', client);
const { dependencies, version } = unpack('contract', contract);
for (const name of readdirSync(join(contract, 'dist')).filter((each) => each.endsWith('.d.ts'))) {
  const file = join(contract, 'dist', name);
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(["'])@ts-rest\/core\1/g, '$1./ts-rest.js$1'));
}
writeFileSync(join(contract, 'dist/ts-rest.d.ts'), readFileSync(join(root, 'packages/client/ts-rest.d.ts')));
const packed = {
  ...manifest,
  dependencies: { ...dependencies, ...manifest.dependencies },
  bundleDependencies: ['@review/contract'],
  devDependencies: undefined,
  scripts: undefined,
};
writeFileSync(join(client, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`);

mkdirSync(folder, { recursive: true });
const tarball = join(folder, `review-client-${version}.tgz`);
execFileSync('tar', ['-czf', tarball, '-C', draft, basename(client)]);
rmSync(draft, { recursive: true });
console.log(tarball);
