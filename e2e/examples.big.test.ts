import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { items } from '@review/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Program } from './processes.ts';
import { NO_MEDIA, Service, sha256 } from './service.ts';

/** Runs the examples of the typed client as separate processes. */
const examples = resolve(import.meta.dirname, '../packages/client/examples');
let service: Service;
let folder: string;
beforeAll(async () => {
  service = await Service.start(NO_MEDIA);
  await service.startWorker('one');
  folder = await mkdtemp(join(tmpdir(), 'review-examples-'));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const newProject = async () => (await service.client.projects.create({ body: { name: 'Examples' } })).data.id;

function run(name: string, project: string, words: string[] = [], settings: Record<string, string> = {}): Program {
  const environment = { REVIEW_URL: service.url, REVIEW_TOKEN: service.key, REVIEW_PROJECT: project, ...settings };
  return new Program(process.execPath, [join(examples, name), ...words], environment);
}

test('the example generates and downloads five videos', async () => {
  const project = await newProject();
  await using program = run('five-videos.ts', project, [join(folder, 'videos')]);
  expect(await program.exit, program.output).toBe(0);
  const { data: files } = await service.client.files.list({ params: { id: project } });
  expect(files).toHaveLength(5);
  const names = await readdir(join(folder, 'videos'));
  const hashes = await Promise.all(names.map(async (name) => sha256(await readFile(join(folder, 'videos', name)))));
  expect(hashes.sort()).toEqual(files.map(({ sha256: hash }) => hash).sort());
});

test('an example without settings names the missing ones', async () => {
  await using program = run('five-videos.ts', '', []);
  expect(await program.exit).toBe(2);
  expect(program.output).toContain('Set REVIEW_PROJECT: the id of a project.');
});

test('the bot handles each request of a reviewer once', async () => {
  const params = { id: await newProject() };
  const { client } = service;
  const { data: version } = await client.versions.create({ params, body: { name: 'Cut 7' } });
  const say = async (content: string) => (await client.comments.create({ params, body: { content } })).data.id;
  const [wish, typo, talk] = [await say('/approve Cut 7'), await say('/reject Cut 8'), await say('Lovely light.')];
  for (let round = 0; round < 2; round++) {
    await using program = run('review-bot.ts', params.id);
    expect(await program.exit, program.output).toBe(0);
    expect(program.output).toBe(round === 0 ? 'set Cut 7 to APPROVED\ndid not find Cut 8\n' : '');
  }
  expect((await client.versions.get({ params: { id: version.id } })).data.status).toBe('APPROVED');
  const answers = async (id: string) => {
    const said: (string | null)[] = [];
    for await (const { content } of items(client.comments.listReplies, { params: { id } })) said.push(content);
    return said;
  };
  expect(await answers(wish)).toEqual(['review-bot: "Cut 7" is now APPROVED.']);
  expect(await answers(typo)).toEqual(['review-bot: there is no version "Cut 8".']);
  expect(await answers(talk)).toEqual([]);
  const { data: open } = await client.comments.list({ params, body: { resolved: false } });
  expect(open.map(({ id }) => id)).toEqual([typo, talk]);
});

// Concurrent, because the example polls every few seconds.
test.concurrent.each([
  ['APPROVED', 0],
  ['REJECTED', 1],
] as const)('a build whose version is %s exits with code %i', async (status, code) => {
  const params = { id: await newProject() };
  const { client } = service;
  const artefact = join(folder, `${status}.zip`);
  await writeFile(artefact, `The build that is ${status}`);
  await using program = run('ci-step.ts', params.id, [artefact, 'Build 12']);
  await program.waitForOutput('waits for review');
  const { data: versions } = await client.versions.list({ params });
  expect(versions).toMatchObject([{ name: 'Build 12' }]);
  await client.versions.setStatus({ params: { id: versions[0]?.id ?? '' }, body: { status } });
  expect(await program.exit, program.output).toBe(code);
  if (status === 'REJECTED') return expect(program.output).toContain('"Build 12" was REJECTED.');
  const link = /APPROVED: (\S+)/.exec(program.output)?.[1] ?? '';
  expect(await (await fetch(link)).text()).toBe('The build that is APPROVED');
});

test('a build that timed out resumes with the same file and version', async () => {
  const params = { id: await newProject() };
  const artefact = join(folder, 'later.zip');
  await writeFile(artefact, 'The build');
  for (let round = 0; round < 2; round++) {
    await using program = run('ci-step.ts', params.id, [artefact, 'Build 13'], { REVIEW_MINUTES: '0' });
    expect(await program.exit, program.output).toBe(3);
  }
  expect((await service.client.files.list({ params })).data).toHaveLength(1);
  expect((await service.client.versions.list({ params })).data).toHaveLength(1);
});
