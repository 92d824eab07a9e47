// Checks that the working tree can be released, and says what to do about each fault. Changes nothing.

import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { openApiDocument } from '../packages/contract/dist/index.js';

const root = resolve(import.meta.dirname, '..');

/** What a release consists of. */
export interface Release {
  version: string;
  /** The version in each package.json. */
  packages: Record<string, string>;
  changelog: string;
  /** The documents in the repository, and those of this contract, by path. */
  documents: Record<string, { stored: string; current: string }>;
  migrations: string[];
  /** The migrations in the recorded schema of this version; null if there is none. */
  recorded: string[] | null;
  /** Files that are not committed. */
  uncommitted: string[];
  tags: string[];
}

/** Returns what prevents the release, each with what to do. */
export function findFaults(release: Release): string[] {
  const { version, packages, documents, migrations, recorded, uncommitted, tags } = release;
  const faults: string[] = [];
  for (const [path, found] of Object.entries(packages)) {
    if (found !== version) faults.push(`${path}: the version is ${found}; set it to ${version}, as in package.json.`);
  }
  faults.push(...changelogFaults(release));
  for (const [path, { stored, current }] of Object.entries(documents)) {
    if (stored !== current) faults.push(`${path}: is not of this contract; run \`npm run snapshot\`.`);
  }
  if (recorded === null || recorded.join() !== migrations.join())
    faults.push(
      `The schema of ${version} is ${recorded === null ? 'not recorded' : 'not recorded with all its migrations'}; run \`RECORD_RELEASE=1 npm test -- db/released\`.`,
    );
  if (tags.includes(`v${version}`)) faults.push(`v${version} is released; set a higher version in each package.json.`);
  if (uncommitted.length > 0) faults.push(`Not committed: ${uncommitted.join(', ')}.`);
  return faults;
}

function changelogFaults({ version, changelog }: Release): string[] {
  const [, heading = '', entries = ''] = /^## (.*)\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(changelog) ?? [];
  const [named, date = ''] = heading.split(', ');
  if (named !== version) return [`CHANGELOG.md: begins with "${heading}"; add a section "${version}, <date>".`];
  const faults: string[] = [];
  if (!/^\d{4}-\d\d-\d\d$/.test(date))
    faults.push(`CHANGELOG.md: ${version} has no date; write "## ${version}, <year>-<month>-<day>".`);
  if (!/^- /m.test(entries)) faults.push(`CHANGELOG.md: ${version} has no entries.`);
  return faults;
}

async function readRelease(): Promise<Release> {
  const read = (path: string) => readFileSync(resolve(root, path), 'utf8');
  const versionIn = (path: string): string => JSON.parse(read(path)).version;
  const lines = async (...words: string[]) =>
    (await promisify(execFile)('git', words, { cwd: root })).stdout.split('\n').filter(Boolean);
  const version = versionIn('package.json');
  const manifests = globSync(['packages/*/package.json', 'apps/*/package.json', 'e2e/package.json'], { cwd: root });
  const current = (openapi: '3.2.0' | '3.1.1') => `${JSON.stringify(openApiDocument({ version, openapi }), null, 2)}\n`;
  const schema = `packages/server/src/db/released/${version}.json`;
  return {
    version,
    packages: Object.fromEntries(manifests.toSorted().map((path) => [path, versionIn(path)])),
    changelog: read('CHANGELOG.md'),
    documents: {
      'docs/openapi.json': { stored: read('docs/openapi.json'), current: current('3.2.0') },
      'docs/openapi-3.1.json': { stored: read('docs/openapi-3.1.json'), current: current('3.1.1') },
    },
    migrations: globSync('[0-9]*.ts', { cwd: resolve(root, 'packages/server/src/db/migrations') })
      .map((name) => name.replace(/\.ts$/, ''))
      .toSorted(),
    recorded: existsSync(resolve(root, schema)) ? Object.keys(JSON.parse(read(schema)).statements.sqlite) : null,
    uncommitted: (await lines('status', '--porcelain')).map((line) => line.slice(3)),
    tags: await lines('tag', '--list'),
  };
}

if (import.meta.main) {
  const release = await readRelease();
  const faults = findFaults(release);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
  else
    console.log(
      `${release.version} is consistent. When npm test and npm run test:big have passed: git tag v${release.version}`,
    );
}
