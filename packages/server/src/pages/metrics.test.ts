import { expect, test } from 'vitest';
import { openStream } from '../rooms/events/test/streams.ts';
import { newPicture } from '../rooms/media/test/media.ts';
import { newWebhook } from '../rooms/webhooks/test/receiver.ts';
import { onEachDatabase } from '../test/house.ts';

onEachDatabase((house) => {
  /** The value of a metric as it is written in the text of `/metrics`. */
  const sampleOf = async (metric: string) => {
    const text = await (await house().request(null, 'GET', '/metrics')).text();
    const line = text.split('\n').find((written) => written.startsWith(`${metric} `));
    return line === undefined ? null : Number(line.slice(metric.length));
  };

  test('changes are counted by the type of their event, and refused requests by their code', async () => {
    const { client } = house().people.owner;
    const [created, refused] = ['events_total{type="folder.created"}', 'http_problems_total{code="NOT_FOUND"}'];
    const before = [await sampleOf(created), await sampleOf(refused)].map((value) => value ?? 0);
    await client.folders.create({ params: { id: house().projectId }, body: { name: 'Takes' } });
    await house().request('owner', 'GET', '/api/nothing');
    await house().request('owner', 'GET', '/api/nothing');
    // The request is counted when its connection has read the response.
    await expect.poll(() => sampleOf(refused)).toBe((before[1] ?? 0) + 2);
    expect(await sampleOf(created)).toBe((before[0] ?? 0) + 1);
  });

  test('files whose media is due, webhooks and open streams are counted', async () => {
    const waiting = (await sampleOf('media_queue_depth')) ?? 0;
    await newPicture(house());
    expect(await sampleOf('media_queue_depth')).toBe(waiting + 1);
    expect(await sampleOf('media_queue_oldest_seconds')).toBeGreaterThan(0);

    const { id } = await newWebhook(house());
    const failing = house().deps.db.updateTable('webhooks').set({ failing_since: '2026-01-01 00:00:00.000000' });
    await failing.where('id', '=', id).execute();
    expect(await sampleOf('webhooks_active{state="failing"}')).toBe(1);

    await using stream = await openStream(house(), house().people.owner, house().projectId);
    await stream.next();
    expect(await sampleOf('event_streams')).toBe(1);
  });

  test('dependencies, free disk space and the pool are measured', async () => {
    for (const part of ['database', 'storage', 'engine'])
      await expect.poll(() => sampleOf(`dependency_up{dependency="${part}"}`)).toBe(1);
    const text = await (await house().request(null, 'GET', '/metrics')).text();
    expect(text).toMatch(/^disk_free_bytes\{directory=".+"\} \d{7,}/m);
    const isPostgres = house().deps.opened.dialect === 'postgres';
    expect(await sampleOf('database_connections{state="waiting"}')).toBe(isPostgres ? 0 : null);
  });
});
