import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { onEachDatabase, type PersonName } from '../../test/house.ts';
import { problemIn } from '../../test/problem-in.ts';
import { newProject, upload } from '../uploads/test/uploads.ts';
import { emptyQueue, FILM, generate, PAGE, post, workerOf } from './test/generations.ts';

const LIMIT = 7;

onEachDatabase(
  (house) => {
    const db = () => house().deps.db;
    const generationsOf = (projectId: string) =>
      db()
        .selectFrom('generations')
        .innerJoin('files', 'files.id', 'generations.file_id')
        .select('file_id')
        .where('files.project_id', '=', projectId)
        .execute();
    const filesOf = (projectId: string) =>
      db().selectFrom('files').select('id').where('project_id', '=', projectId).execute();

    test('R1: 100 concurrent requests with one idempotency key create one file and one generation', async () => {
      await emptyQueue(house());
      const projectId = await newProject(house());
      const headers = { 'idempotency-key': randomUUID() };
      const answers = await Promise.all(Array.from({ length: 100 }, () => post(house(), PAGE, { projectId, headers })));
      const ids = new Set<string>();
      for (const answer of answers) {
        expect([202, 409]).toContain(answer.status);
        if (answer.status === 409) await problemIn(answer, 'IDEMPOTENCY_IN_PROGRESS');
        else ids.add(((await answer.json()) as { data: { id: string } }).data.id);
      }
      expect(ids.size).toBe(1);
      expect(await filesOf(projectId)).toEqual([{ id: [...ids][0] }]);
      expect(await generationsOf(projectId)).toHaveLength(1);
    });

    test('a replay has the status, the body and the Location of the first response', async () => {
      await emptyQueue(house());
      const headers = { 'idempotency-key': randomUUID() };
      const first = await post(house(), PAGE, { headers });
      const again = await post(house(), PAGE, { headers });
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([202, 'true']);
      expect(again.headers.get('location')).toBe(first.headers.get('location'));
      expect(again.headers.get('location')).not.toBeNull();
      expect(await again.text()).toBe(await first.text());
    });

    test(`${LIMIT} may wait in a workspace: of 50 parallel requests exactly ${LIMIT} are accepted`, async () => {
      await emptyQueue(house());
      const projectId = await newProject(house());
      const answers = await Promise.all(Array.from({ length: 50 }, () => post(house(), PAGE, { projectId })));
      const refused = answers.filter(({ status }) => status !== 202);
      expect(answers.length - refused.length).toBe(LIMIT);
      for (const answer of refused) {
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        await problemIn(answer, 'GENERATION_QUEUE_FULL');
      }
      expect(await filesOf(projectId)).toHaveLength(LIMIT);
      expect(await generationsOf(projectId)).toHaveLength(LIMIT);
    });

    test('claimed and ended generations do not count as queued', async () => {
      await emptyQueue(house());
      const ids: string[] = [];
      while (ids.length < LIMIT) ids.push(await generate(house()));
      await problemIn(await post(house(), PAGE), 'GENERATION_QUEUE_FULL');
      await house().people.owner.client.files.cancel({ params: { id: ids[0] ?? '' } });
      expect((await post(house(), PAGE)).status).toBe(202);
      await problemIn(await post(house(), PAGE), 'GENERATION_QUEUE_FULL');
      await workerOf(house()).claim({ body: { worker: 'box', most: 1, wait: 0 } });
      expect((await post(house(), PAGE)).status).toBe(202);
    });

    test('a full queue does not affect another workspace', async () => {
      await emptyQueue(house());
      for (let count = 0; count < LIMIT; count++) await generate(house());
      const { foreigner } = house().people;
      const projectId = (await foreigner.client.projects.create({ body: { name: 'Elsewhere' } })).data.id;
      expect((await post(house(), PAGE, { person: 'foreigner', projectId })).status).toBe(202);
    });

    test('invalid references are reported even if the queue is full', async () => {
      await emptyQueue(house());
      for (let count = 0; count < LIMIT; count++) await generate(house());
      const body = { ...PAGE, folder: { id: 'DX00000000000000000000' } };
      await problemIn(await post(house(), body), 'REFERENCE_NOT_FOUND');
    });

    test('a failed write creates neither the file nor the generation', async () => {
      await emptyQueue(house());
      const projectId = await newProject(house());
      const body = { ...PAGE, attachments: [{ id: await upload(house().people.owner.client, 'GA', projectId) }] };
      // The last of the three written tables.
      await sql`alter table generation_attachments rename to away`.execute(db());
      const answer = await post(house(), body, { projectId }).finally(() =>
        sql`alter table away rename to generation_attachments`.execute(db()),
      );
      await problemIn(answer, 'INTERNAL');
      expect(await filesOf(projectId)).toEqual([]);
      expect(await generationsOf(projectId)).toEqual([]);
      expect((await post(house(), body, { projectId })).status).toBe(202);
    });

    test.each([
      ['owner', 202],
      ['manager', 202],
      ['member', 202],
      ['reviewer', 403],
      ['restricted', 403],
      ['stranger', 404],
      ['foreigner', 404],
    ] as [PersonName, number][])('%s: %i', async (person, status) => {
      await emptyQueue(house());
      expect((await post(house(), PAGE, { person })).status).toBe(status);
    });

    test('ai:generate is required and sufficient', async () => {
      await emptyQueue(house());
      const params = { id: house().projectId };
      const able = await house().withScopes('owner', ['ai:generate']);
      await able.client.generation.generate({ params, body: PAGE });
      const unable = await house().withScopes('owner', ['files:write', 'projects:write']);
      await expect(unable.client.generation.generate({ params, body: PAGE })).rejects.toMatchObject({
        code: 'INSUFFICIENT_SCOPE',
      });
    });

    test('in a project that is being deleted it is 409', async () => {
      const projectId = await newProject(house());
      await house().people.owner.client.projects.delete({ params: { id: projectId } });
      await problemIn(await post(house(), PAGE, { projectId }), 'PROJECT_DELETING');
      expect(await filesOf(projectId)).toEqual([]);
    });
  },
  { GENERATION_QUEUE_LIMIT: String(LIMIT), LOG_LEVEL: 'silent' },
);

onEachDatabase(
  (house) => {
    test('without the sandbox a model is 422 until a worker reports its family as live', async () => {
      const hello = (state: 'live' | 'sandbox' | 'misconfigured') =>
        workerOf(house()).register({ body: { worker: 'box', families: [{ family: 'seedance', state }] } });
      await problemIn(await post(house(), FILM), 'MODEL_NOT_AVAILABLE');
      for (const state of ['sandbox', 'misconfigured'] as const) {
        await hello(state);
        await problemIn(await post(house(), FILM), 'MODEL_NOT_AVAILABLE');
      }
      await hello('live');
      expect((await post(house(), FILM)).status).toBe(202);
      await problemIn(await post(house(), PAGE), 'MODEL_NOT_AVAILABLE');
      await hello('misconfigured');
      await problemIn(await post(house(), FILM), 'MODEL_NOT_AVAILABLE');
    });
  },
  { SANDBOX_PROVIDER: 'off' },
);
