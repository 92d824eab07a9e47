import { connect } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { revokeCredential } from '../credentials/queries.ts';
import { now } from '../db/time.ts';
import { start, uploadFile } from '../rooms/uploads/test/uploads.ts';
import { eventually } from '../test/eventually.ts';
import { onEachDatabase, type PersonName } from '../test/house.ts';
import { ABOUT } from './test/clients.ts';
import { currentRequest, formerRequest, messageIn, post } from './test/wire.ts';

onEachDatabase((house) => {
  const newFile = () => uploadFile(house(), Buffer.from('# Tides'), { name: 'tides.md' });
  const rename = (id: string, name: string) =>
    house().people.owner.client.files.update({ params: { id }, body: { name } });

  /** Subscribes to the resources, and collects the URIs that the notifications name. */
  async function subscribe(key: string, resourceSubscriptions: string[]) {
    const client = new Client(ABOUT, { versionNegotiation: { mode: 'auto' } });
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${house().url}/mcp`), { requestInit }));
    const updated: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
    const { honoredFilter } = await client.listen({ resourceSubscriptions });
    return { updated, honoredFilter, [Symbol.asyncDispose]: () => client.close() };
  }
  const keyOf = (person: PersonName) => house().people[person].key;

  test('a subscribed file is reported when it changes, its content too, and others are not', async () => {
    const [file, other] = [await newFile(), await newFile()];
    const uris = [`review://files/${file}`, `review://files/${file}/content`];
    await using subscription = await subscribe(keyOf('owner'), uris);
    expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: uris });
    await rename(other, 'other.md');
    await rename(file, 'neap.md');
    await eventually(async () => subscription.updated.length >= 2, 'the notifications');
    expect(subscription.updated).toEqual(uris);
  });

  test('a file that the caller cannot see, has no scope for, or that does not exist is not reported', async () => {
    const [hidden, seen] = [await newFile(), await newFile()];
    await house().people.owner.client.files.update({ params: { id: seen }, body: { allowRestricted: true } });
    const all = [hidden, seen, 'FXAAAAAAAAAA'].map((id) => `review://files/${id}`);
    await using restricted = await subscribe(keyOf('restricted'), [...all, 'review://nothing', 'x']);
    await using unscoped = await subscribe((await house().withScopes('owner', ['projects:read'])).key, all);
    await rename(hidden, 'hidden.md');
    await rename(seen, 'seen.md');
    await eventually(async () => restricted.updated.length > 0, 'the notification');
    expect(restricted.updated).toEqual([`review://files/${seen}`]);
    expect(unscoped.updated).toEqual([]);
  });

  test('the key of a subscription whose response waits behind another is revoked: the server works on', async () => {
    const { deps, people, projectId, url } = house();
    const { key } = await house().withScopes('owner', ['files:read', 'files:write']);
    const [file, { id: unfinished }] = [await newFile(), await start(people.owner.client, 'FX', projectId)];
    const subscription = currentRequest('subscriptions/listen', {
      notifications: { resourceSubscriptions: [`review://files/${file}`] },
    });
    const { host, hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const send = (line: string, { headers = {}, body = '' }: RequestInit = {}) => {
      const all = { host, authorization: `Bearer ${key}`, 'content-length': String(body).length, ...headers };
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
      socket.write([`${line} HTTP/1.1`, ...lines, '', body].join('\r\n'));
    };
    send(`GET /api/files/${unfinished}?wait=50`);
    send('POST /mcp', subscription);
    send(`PATCH /api/files/${file}`, { headers: { 'content-type': 'application/json' }, body: '{"name":"spring.md"}' });
    const nameOf = async () => (await people.owner.client.files.get({ params: { id: file } })).data.name;
    await eventually(async () => (await nameOf()) === 'spring.md', 'the last of the three requests');
    const other = await post(house(), key, subscription);
    const { id } = await deps.db
      .selectFrom('api_keys')
      .select('id')
      .where('hint', '=', key.slice(-4))
      .executeTakeFirstOrThrow();
    await revokeCredential(deps.db, id, now());
    await other.text();
    const since = performance.now();
    await eventually(async () => {
      await rename(file, `${Math.round(performance.now())}.md`);
      return performance.now() - since > 1000;
    }, 'the check of the waiting one');
    expect((await house().request(null, 'GET', '/healthz')).status).toBe(200);
    socket.destroy();
  });

  test('older clients are told that they cannot subscribe', async () => {
    const clientInfo = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: ABOUT };
    const { result } = await messageIn(await post(house(), keyOf('owner'), formerRequest('initialize', clientInfo)));
    expect(result?.['capabilities']).toMatchObject({ resources: {} });
    expect(result?.['capabilities']).not.toMatchObject({ resources: { subscribe: true } });
  });
});
