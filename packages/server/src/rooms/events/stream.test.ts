import { SCOPES } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { removeFromWorkspace } from '../../accounts/remove.ts';
import { createApp } from '../../app.ts';
import { revokeCredential } from '../../credentials/queries.ts';
import { now } from '../../db/time.ts';
import { listen } from '../../listen.ts';
import { openDeps } from '../../open-deps.ts';
import { eventually, TIMED } from '../../test/eventually.ts';
import { type House, onEachDatabase, type Person } from '../../test/house.ts';
import { membershipOf, newcomer, newProject } from '../../test/people.ts';
import { upload } from '../uploads/test/uploads.ts';
import { EventFeed } from './feed.ts';
import { streamEvents } from './stream.ts';
import { openStream, storedEvents, typesOf } from './test/streams.ts';

/** A new project, with a person of each role that the tests use. */
async function studio(house: House) {
  const [owner, member, restricted] = [await newcomer(house), await newcomer(house), await newcomer(house)];
  const id = await newProject(owner, [
    [member, 'PROJECT_MEMBER'],
    [restricted, 'PROJECT_RESTRICTED_REVIEWER'],
  ]);
  const comment = (content: string, author: Person = owner) =>
    author.client.comments.create({ params: { id }, body: { content } });
  return { id, owner, member, restricted, comment };
}

/** Milliseconds until the stream ends. */
async function endsWithin(stream: { rest(): Promise<unknown> }): Promise<number> {
  const started = performance.now();
  await stream.rest();
  return performance.now() - started;
}

onEachDatabase((house) => {
  test('sends each change as an event, in headers that no proxy buffers or caches', async () => {
    const { id, owner, member, comment } = await studio(house());
    await using stream = await openStream(house(), member, id);
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      'cache-control': 'private, no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(stream.response.headers.has('content-encoding')).toBe(false);
    expect(await stream.next()).toMatch(/^retry: \d+\nid: 3$/);
    const { data } = await comment('Good.');
    const frame = await stream.next();
    const [event] = (await storedEvents(house(), id)).slice(-1);
    expect(frame).toBe(`id: 4\nevent: comment.created\ndata: ${JSON.stringify(event)}`);
    expect(event).toEqual({
      id: '4',
      type: 'comment.created',
      at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/),
      project: { id },
      subject: { type: 'comment', id: data.id },
      actor: { id: owner.userId },
      data: { file: null, parent: null, attachments: [] },
    });
  });

  test('continues after Last-Event-ID, which overrides `after`, and repeats and skips nothing', async () => {
    const { id, member, comment } = await studio(house());
    for (const content of ['1', '2', '3']) await comment(content);
    const seen: string[] = [];
    for (let round = 0; round < 4; round++) {
      const after = seen.at(-1) ?? '3';
      await using stream = await openStream(house(), member, id, { after, query: '?after=0' });
      const writing = comment(`round ${round}`);
      seen.push(...(await stream.events(round === 0 ? 4 : 1)).map((event) => event.id));
      await writing;
    }
    expect(seen).toEqual(['4', '5', '6', '7', '8', '9', '10']);
    await using first = await openStream(house(), member, id, { query: '?after=0' });
    expect((await first.events(10)).map((event) => event.id)).toEqual(Array.from({ length: 10 }, (_, n) => `${n + 1}`));
  });

  test('reads more events than a batch without a gap', async () => {
    const { id, member, owner } = await studio(house());
    await Promise.all(
      Array.from({ length: 250 }, (_, n) => owner.client.folders.create({ params: { id }, body: { name: `${n}` } })),
    );
    await using stream = await openStream(house(), member, id, { after: 3 });
    const ids = (await stream.events(250)).map((event) => Number(event.id));
    expect(ids).toEqual(Array.from({ length: 250 }, (_, n) => n + 4));
  });

  test.each([
    ['whose successor is no longer kept', 1],
    ['of the future, after a restored backup', 99],
  ])('is reset after an id %s', async (_, after) => {
    const { id, member, comment } = await studio(house());
    await comment('1');
    await house().deps.db.deleteFrom('events').where('project_id', '=', id).where('sequence', '<', 4).execute();
    await using stream = await openStream(house(), member, id, { after });
    expect(await stream.next()).toMatch(/^retry: \d+\nevent: reset\nid: 4\ndata: \{"id":"4"\}$/);
    await comment('2');
    expect((await stream.events(1)).map((event) => event.id)).toEqual(['5']);
    await using kept = await openStream(house(), member, id, { after: 3 });
    expect((await kept.events(2)).map((event) => event.id)).toEqual(['4', '5']);
  });

  test.each(['x', '-1', '1.5', '01', ' ', '9'.repeat(16)])('the id "%s" is 400', async (after) => {
    const { id, member } = await studio(house());
    const path = `${house().url}/api/projects/${id}/events?after=${encodeURIComponent(after)}`;
    const response = await fetch(path, { headers: { authorization: `Bearer ${member.key}` } });
    expect([response.status, await response.json()]).toMatchObject([400, { errors: [{ pointer: '#query/after' }] }]);
  });

  test('HEAD ends at once', async () => {
    const { id, member } = await studio(house());
    const path = `${house().url}/api/projects/${id}/events`;
    const response = await fetch(path, { method: 'HEAD', headers: { authorization: `Bearer ${member.key}` } });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  test('a restricted reviewer receives only events of what is visible at that moment', async () => {
    const { id, owner, restricted, comment } = await studio(house());
    const { client } = owner;
    await using stream = await openStream(house(), restricted, id);
    const [hidden, shown] = [await upload(client, 'FX', id), await upload(client, 'FX', id)];
    const folder = (await client.folders.create({ params: { id }, body: { name: 'Folder' } })).data;
    const say = (file: string, content: string) =>
      client.comments.createOnFile({ params: { id: file }, body: { content } });
    await say(hidden, 'secret');
    await comment('made');
    // Each is awaited, because a stream that reads later sees what has become visible meanwhile.
    const live = await stream.events(1);
    await client.files.update({ params: { id: shown }, body: { allowRestricted: true, folder } });
    await say(shown, 'seen');
    live.push(...(await stream.events(2)));
    await client.files.setTag({ params: { id: hidden }, body: { tag: 'APPROVED' } });
    await client.versions.create({ params: { id }, body: { name: 'Secret' } });
    await client.versions.create({ params: { id }, body: { name: 'Shown', allowRestricted: true } });
    await client.folders.update({ params: folder, body: { name: 'Renamed' } });
    live.push(...(await stream.events(2)));
    await client.accessLinks.create({ params: { id }, body: { role: 'PROJECT_REVIEWER' } });
    await client.files.delete({ params: { id: hidden } });
    await client.files.delete({ params: { id: shown } });
    await comment('done');
    live.push(...(await stream.events(2)));
    expect(typesOf(live)).toEqual([
      'comment.created',
      'file.updated',
      'comment.created',
      'version.created',
      'folder.updated',
      'file.deleted',
      'comment.created',
    ]);
    expect(JSON.stringify(live)).not.toContain(hidden);

    // Later, the deleted file and the emptied folder are visible no more.
    await using later = await openStream(house(), restricted, id, { after: 3 });
    expect(typesOf(await later.events(4))).toEqual([
      'comment.created',
      'version.created',
      'file.deleted',
      'comment.created',
    ]);
  });

  test('each event needs the scope that reads its subject', async () => {
    const { id, owner } = await studio(house());
    const { client } = owner;
    await client.folders.create({ params: { id }, body: { name: 'Folder' } });
    await client.comments.create({ params: { id }, body: { content: 'Good.' } });
    await client.versions.create({ params: { id }, body: { name: 'First' } });
    await client.accessLinks.create({ params: { id }, body: { role: 'PROJECT_REVIEWER' } });
    const seenWith = async (...scopes: (typeof SCOPES)[number][]) => {
      const reader = await newcomer(house(), { scopes: ['projects:read', ...scopes] });
      const members = [{ user: { id: reader.userId }, role: 'PROJECT_MANAGER' as const }];
      await client.members.add({ params: { id }, body: { members } });
      await client.projects.update({ params: { id }, body: { name: 'Last' } });
      await using stream = await openStream(house(), reader, id, { after: 3 });
      const found: string[] = [];
      while (found.at(-1) !== 'project.updated') found.push(...typesOf(await stream.events(1)));
      return found;
    };
    expect(await seenWith()).toEqual(['version.created', 'project.updated']);
    expect((await seenWith('comments:read')).slice(0, 2)).toEqual(['comment.created', 'version.created']);
    expect((await seenWith('access-links:read')).slice(0, 2)).toEqual(['version.created', 'link.created']);
  });

  test('a new role applies from its event on', async () => {
    const { id, owner, member, restricted, comment } = await studio(house());
    const { client } = owner;
    const file = await upload(client, 'FX', id);
    await using stream = await openStream(house(), member, id);
    await client.files.setTag({ params: { id: file }, body: { tag: 'APPROVED' } });
    const membership = { id: await membershipOf(member, id) };
    await client.members.update({ params: membership, body: { role: 'PROJECT_RESTRICTED_REVIEWER' } });
    await client.files.setTag({ params: { id: file }, body: { tag: 'REJECTED' } });
    await comment('last', restricted);
    expect(typesOf(await stream.events(3))).toEqual(['file.tagged', 'member.changed', 'comment.created']);
  });

  test('a removed member receives nothing more, and the stream ends within a second', TIMED, async () => {
    const { id, owner, member, comment } = await studio(house());
    await using stream = await openStream(house(), member, id);
    const membership = { id: await membershipOf(member, id) };
    await comment('before');
    await owner.client.members.remove({ params: membership });
    const ending = endsWithin({ rest: async () => expect(typesOf(await stream.rest())).toEqual(['comment.created']) });
    await comment('after');
    expect(await ending).toBeLessThan(1000);
  });

  test(
    'a revoked key, a person who left the workspace and a deleted project end the stream within a second',
    TIMED,
    async () => {
      const { db } = house().deps;
      const endsAfter = async (end: (site: Awaited<ReturnType<typeof studio>>) => Promise<unknown>) => {
        const site = await studio(house());
        await using stream = await openStream(house(), site.member, site.id);
        await end(site);
        expect(await endsWithin(stream)).toBeLessThan(1000);
      };
      const keyOf = (userId: string) => db.selectFrom('api_keys').select('id').where('user_id', '=', userId);
      await Promise.all([
        endsAfter(async ({ member }) =>
          revokeCredential(db, (await keyOf(member.userId).executeTakeFirstOrThrow()).id, now()),
        ),
        endsAfter(({ member: { workspaceId, userId } }) =>
          db.transaction().execute((trx) => removeFromWorkspace(trx, { workspaceId, userId }, now())),
        ),
        endsAfter(({ id }) => db.deleteFrom('projects').where('id', '=', id).execute()),
      ]);
    },
  );

  test('wakes for changes of other processes', TIMED, async () => {
    const { id, member, owner } = await studio(house());
    const deps = openDeps(house().deps.config, house().deps.log);
    await using listening = await listen(createApp(deps), { host: '127.0.0.1', port: 0 }, 1);
    await using stream = await openStream({ url: `http://127.0.0.1:${listening.port}` }, member, id);
    await stream.next();
    const started = performance.now();
    await owner.client.comments.create({ params: { id }, body: { content: 'Good.' } });
    expect(typesOf(await stream.events(1))).toEqual(['comment.created']);
    expect(performance.now() - started).toBeLessThan(2000);
    await stream[Symbol.asyncDispose]();
    await deps[Symbol.asyncDispose]();
  });

  test('ends when the server stops', TIMED, async () => {
    const { id, member } = await studio(house());
    const stopping = new AbortController();
    const deps = openDeps(house().deps.config, house().deps.log, stopping.signal);
    await using listening = await listen(createApp(deps), { host: '127.0.0.1', port: 0 }, 10);
    await using stream = await openStream({ url: `http://127.0.0.1:${listening.port}` }, member, id);
    await stream.next();
    stopping.abort();
    expect(await endsWithin(stream)).toBeLessThan(1000);
    await deps[Symbol.asyncDispose]();
  });

  test('sends a heartbeat, whose id moves past events that the caller may not see', async () => {
    const { id, owner, restricted } = await studio(house());
    const ending = new AbortController();
    const feed = new EventFeed(house().deps);
    const stream = feed.open(id, { id: 'credential', isValid: async () => true }, ending.signal);
    const sent = streamEvents({
      db: house().deps.db,
      feed,
      stream,
      projectId: id,
      role: 'PROJECT_RESTRICTED_REVIEWER',
      reader: {
        userId: restricted.userId,
        scopes: new Set(SCOPES),
        findRole: async () => 'PROJECT_RESTRICTED_REVIEWER',
      },
      after: null,
      heartbeatMs: 50,
    });
    const next = async () => {
      const { value } = await sent.next();
      return value?.text;
    };
    expect(await next()).toContain('id: 3');
    expect(await next()).toBe(':\n\n');
    await upload(owner.client, 'FX', id);
    await eventually(async () => (await next()) === ': id: 5\n\n', 'the id of a heartbeat');
    expect(await next()).toBe(':\n\n');
    ending.abort();
    expect(await sent.next()).toMatchObject({ done: true });
  });
});

describe('EVENT_STREAM_LIMIT=2', () => {
  onEachDatabase(
    (house) => {
      test('a third stream gets 503 with Retry-After until one of the others ends', async () => {
        const { id, member } = await studio(house());
        await using first = await openStream(house(), member, id);
        await using second = await openStream(house(), member, id);
        await Promise.all([first.next(), second.next()]);
        const ask = () =>
          fetch(`${house().url}/api/projects/${id}/events`, { headers: { authorization: `Bearer ${member.key}` } });
        const refused = await ask();
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
        await refused.body?.cancel();
        await first[Symbol.asyncDispose]();
        await eventually(async () => {
          const response = await ask();
          await response.body?.cancel();
          return response.status === 200;
        }, 'a free place');
      });
    },
    { EVENT_STREAM_LIMIT: '2' },
  );
});
