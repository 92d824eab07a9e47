import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { field } from './json-field.ts';

/** Runs `review <args> --json` and returns the parsed output. */
export type Review = (...args: string[]) => Promise<unknown>;

export interface Demo {
  readonly key: string;
  readonly projectId: string;
}

/** Creates the demo workspace unless it exists. Stores its owner's key in a file, because the service shows it only once. */
export async function openDemo(
  review: Review,
  dataDirectory: string,
  keyWorks: (key: string) => Promise<boolean>,
): Promise<Demo> {
  const keyFile = join(dataDirectory, 'demo-key');
  const demo = await review('demo');
  const people = list(field(demo, 'people'));
  const owner = people.find((person) => field(person, 'role') === 'PROJECT_OWNER');
  const projectId = text(field(list(field(demo, 'projects'))[0], 'id'), 'the id of the first demo project');

  const freshKey = field(owner, 'key');
  const keptKey = freshKey ?? (await readFile(keyFile, 'utf8').catch(() => '')).trim();
  if (typeof keptKey === 'string' && keptKey !== '' && (await keyWorks(keptKey))) {
    if (keptKey === freshKey) await keep(keyFile, keptKey);
    return { key: keptKey, projectId };
  }
  const workspace = text(field(demo, 'id'), 'the id of the demo workspace');
  const ownerId = text(field(owner, 'id'), 'the id of the demo owner');
  const created = await review('key', 'create', '--workspace', workspace, '--user', ownerId, '--scopes', 'all');
  const key = text(field(created, 'key'), 'the new key');
  await keep(keyFile, key);
  return { key, projectId };
}

async function keep(path: string, key: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, `${key}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw new Error(`the output of \`review\` lacks ${what}`);
  return value;
}
