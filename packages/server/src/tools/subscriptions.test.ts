import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { uploadFile } from '../rooms/uploads/test/uploads.ts';
import { eventually } from '../test/eventually.ts';
import { onEachDatabase, type PersonName } from '../test/house.ts';
import { ABOUT } from './test/clients.ts';
import { formerRequest, messageIn, post } from './test/wire.ts';

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

  test('older clients are told that they cannot subscribe', async () => {
    const clientInfo = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: ABOUT };
    const { result } = await messageIn(await post(house(), keyOf('owner'), formerRequest('initialize', clientInfo)));
    expect(result?.['capabilities']).toMatchObject({ resources: {} });
    expect(result?.['capabilities']).not.toMatchObject({ resources: { subscribe: true } });
  });
});
