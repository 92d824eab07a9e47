import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { createClient, generate, upload } from '@review/client';
import { expect } from 'vitest';
import { z } from 'zod';
import { type Program, readOutput, until } from './processes.ts';
import type { Settings } from './service.ts';

/** Steps of an operator and a caller, for tests of the files in deploy/. */

const Created = z.object({ id: z.string() });
const CreatedKey = z.object({ key: z.string() });

const COMMAND = resolve(import.meta.dirname, '../packages/server/dist/commands/main.js');

/** Creates a workspace, a user and a key, as docs/self-hosting.md says, and returns the key. */
export const createKey = (settings: Settings, command = COMMAND): Promise<string> =>
  createKeyBy((words) => readOutput(process.execPath, [command, ...words], settings));

/** The same with another way to run the `review` command, which returns its output. */
export async function createKeyBy(run: (words: readonly string[]) => Promise<string>): Promise<string> {
  const review = async (...words: string[]): Promise<unknown> => JSON.parse(await run([...words, '--json']));
  const { id } = Created.parse(await review('workspace', 'create', '--name', 'Studio'));
  const user = ['--email', 'ada@example.com', '--name', 'Ada'];
  await review('user', 'create', '--workspace', id, ...user);
  const key = ['key', 'create', '--workspace', id, '--user', 'ada@example.com', '--scopes', 'all'];
  return CreatedKey.parse(await review(...key)).key;
}

export const waitForAnswer = (name: string, url: string, program: Program) =>
  until(`${name} is ready`, async () => {
    if (program.child.exitCode !== null) throw new Error(`${name} exited:\n${program.output}`);
    return (await fetch(url).catch(() => null))?.ok;
  });

/** Generates a document, uploads 20 MB and downloads both, by the typed client. */
export async function useService(baseUrl: string, token: string): Promise<string> {
  const client = createClient({ baseUrl, token, retries: 0 });
  const project = (await client.projects.create({ body: { name: 'Film' } })).data.id;
  const made = await generate(client, {
    project,
    outputType: 'DOCUMENT',
    outputModel: 'markdown',
    prompt: 'A plan',
  });
  expect(made.status).toBe('UPLOADED');
  const bytes = randomBytes(20 * 1024 * 1024);
  const { id } = await upload(client, { to: { project, kind: 'file' }, source: bytes, name: 'cut.bin' });
  const stored = await (await fetch((await client.files.download({ params: { id } })).data.url)).arrayBuffer();
  expect(Buffer.from(stored).equals(bytes)).toBe(true);
  expect((await client.files.list({ params: { id: project }, body: { keyword: 'cut' } })).data).toHaveLength(1);
  return project;
}
