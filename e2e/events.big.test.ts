import { type Client, createClient } from '@review/client';
import { SCOPES } from '@review/contract';
import { expect, inject, test } from 'vitest';
import { joinWorkspace } from '../packages/server/src/accounts/queries.ts';
import { issueKey } from '../packages/server/src/credentials/issue.ts';
import { wireTo } from '../packages/server/src/test/wire.ts';
import { freePort } from '../scripts/free-port.ts';
import { until } from './processes.ts';
import { Service } from './service.ts';

const CHANGES = 10_000;
const WRITERS = 8;
const FAULTS = 100;
const RETRIES = 1000;
/** The type of the last change. */
const LAST = 'project.updated';

/** Adds a restricted reviewer to the project, and returns their key. */
async function restrictedKey(service: Service): Promise<string> {
  const { db } = service.database;
  const project = db.selectFrom('projects').select('workspace_id').where('id', '=', service.projectId);
  const { workspace_id: workspaceId } = await project.executeTakeFirstOrThrow();
  const person = { workspaceId, email: 'restricted-reader@example.com', name: 'Restricted reader' };
  const id = await db.transaction().execute((trx) => joinWorkspace(trx, person));
  const members = [{ user: { id }, role: 'PROJECT_RESTRICTED_REVIEWER' as const }];
  await service.client.members.add({ params: { id: service.projectId }, body: { members } });
  return (await issueKey(db, { workspaceId, userId: id, scopes: SCOPES })).key;
}

/** The ids of all events up to the last change. */
async function follow(client: Client, projectId: string, after: string): Promise<string[]> {
  const received: string[] = [];
  for await (const event of client.events(projectId, { after })) {
    received.push(event.type === 'reset' ? 'reset' : event.id);
    if (event.type === LAST) break;
  }
  return received;
}

test('every reader receives every event it may see, once and in order, while streams are cut and servers killed', {
  timeout: 1_800_000,
}, async () => {
  await using service = await Service.start({}, { postgres: inject('postgresUrl') });
  const { client, projectId } = service;
  const params = { id: projectId };
  const secondPort = await freePort();
  let second = await service.startServer({ PORT: secondPort });
  const urls = [service.url, `http://127.0.0.1:${secondPort}`];
  const wires = await Promise.all(urls.map((url) => wireTo(url)));

  const newFile = async () => (await client.files.startUpload({ params, body: { name: 'a.txt', size: 1 } })).data.id;
  const [hidden, shown] = [await newFile(), await newFile()];
  await client.files.update({ params: { id: shown }, body: { allowRestricted: true } });
  const keys = [service.key, service.key, await restrictedKey(service)];
  const { db } = service.database;
  const counter = db.selectFrom('event_counters').select('last_sequence').where('project_id', '=', projectId);
  const { last_sequence: start } = await counter.executeTakeFirstOrThrow();

  const readers = keys.map((token, index) => {
    const baseUrl = wires[index % wires.length]?.url ?? '';
    return follow(createClient({ baseUrl, token, retries: RETRIES }), projectId, String(start));
  });

  const created: string[] = [];
  const write = async (writer: number) => {
    const own = service.clientAt(urls[writer % urls.length] ?? '');
    const changes = [
      () => own.comments.create({ params, body: { content: 'Good.' } }),
      () => own.comments.createOnFile({ params: { id: hidden }, body: { content: 'Hidden.' } }),
      () => own.comments.createOnFile({ params: { id: shown }, body: { content: 'Shown.' } }),
    ];
    for (let turn = writer; created.length < CHANGES; turn++) {
      const answer = await changes[turn % changes.length]?.().catch(() => null);
      if (answer) created.push(answer.data.id);
      else await own.ping.ping(undefined, { retries: RETRIES });
    }
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));

  for (let fault = 1; fault <= FAULTS; fault++) {
    await until(
      `${fault} of ${FAULTS} faults are due`,
      () => created.length >= (fault * CHANGES) / (FAULTS + 1),
      300_000,
    );
    const isFirst = fault % 2 === 0;
    const streamsOfOther = wires[isFirst ? 1 : 0];
    await streamsOfOther?.cut();
    await streamsOfOther?.mend();
    if (isFirst) {
      await service.restartServer();
    } else {
      await second.end();
      second = await service.startServer({ PORT: secondPort });
    }
  }
  await writing;
  await client.projects.update({ params, body: { name: 'Last' } }, { retries: RETRIES });

  const stored = await db
    .selectFrom('events')
    .select(['sequence', 'guard_id', 'subject_id'])
    .where('project_id', '=', projectId)
    .where('sequence', '>', start)
    .orderBy('sequence')
    .execute();
  const all = stored.map(({ sequence }) => String(sequence));
  const open = stored.filter(({ guard_id: id }) => id === null || id === shown);
  // A killed server may have stored a change that it did not answer.
  const subjects = new Set(stored.map(({ subject_id: id }) => id));
  expect(created.filter((id) => !subjects.has(id))).toEqual([]);
  expect(all.length).toBeGreaterThan(CHANGES);
  const [first, other, restricted] = await Promise.all(readers);
  expect(first).toEqual(all);
  expect(other).toEqual(all);
  expect(restricted).toEqual(open.map(({ sequence }) => String(sequence)));
  for (const wire of wires) await wire[Symbol.asyncDispose]();
});
