import { createQueryId } from 'kysely';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { secondsFromNow } from '../db/time.ts';
import { inTransaction } from '../db/transaction.ts';
import { openStream } from '../rooms/events/test/streams.ts';
import { pauseFamily, resumeFamily } from '../rooms/generation/paused-families.ts';
import { measureQueue } from '../rooms/generation/queue-watch.ts';
import { workerOf } from '../rooms/generation/test/generations.ts';
import { newPicture } from '../rooms/media/test/media.ts';
import { comment, holder, newWebhook, outcomeOf } from '../rooms/webhooks/test/receiver.ts';
import { setDraining } from '../rooms/workers/queries.ts';
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

  test('a scrape reads the queue of generations once for all its metrics', async () => {
    const { deps } = house();
    const reads: string[] = [];
    const db = deps.db.withPlugin({
      transformQuery({ node }) {
        const { sql } = deps.db.getExecutor().compileQuery(node, createQueryId());
        reads.push(/from "(\w+)"/.exec(sql)?.[1] ?? sql);
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const metrics = new Registry();
    measureQueue({ ...deps, db, metrics });
    await metrics.metrics();
    expect(reads.filter((table) => table === 'generations')).toHaveLength(1);
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

  test('the lag of webhooks is the age of the oldest event that was never sent', async () => {
    const { db } = house().deps;
    await db.deleteFrom('webhooks').execute();
    expect(await sampleOf('webhook_lag_seconds')).toBe(0);
    const { id, projectId } = await newWebhook(house());
    const worker = await holder(house(), id);
    await worker.drain(204);
    expect(await sampleOf('webhook_lag_seconds')).toBe(0);

    await comment(house(), projectId);
    const waiting = db.updateTable('events').set({ at: secondsFromNow(-1000) });
    await waiting.where('project_id', '=', projectId).execute();
    expect(await sampleOf('webhook_lag_seconds')).toBeCloseTo(1000, -2);
    const requests = await worker.exchange();
    expect(await sampleOf('webhook_lag_seconds')).toBeCloseTo(1000, -2);
    // From now on its retries wait for the receiver.
    await worker.exchange(requests.map(({ deliveryId }) => outcomeOf(deliveryId, 500)));
    expect(await sampleOf('webhook_lag_seconds')).toBe(0);

    await comment(house(), projectId);
    await db
      .updateTable('events')
      .set({ at: secondsFromNow(-1000) })
      .execute();
    expect(await sampleOf('webhook_lag_seconds')).toBeCloseTo(1000, -2);
    await house().people.owner.client.webhooks.update({ params: { id }, body: { active: false } });
    expect(await sampleOf('webhook_lag_seconds')).toBe(0);
  });

  test('paused families and draining workers are counted', async () => {
    const { db } = house().deps;
    await workerOf(house()).register({ body: { worker: 'box:1', families: [] } });
    await workerOf(house()).register({ body: { worker: 'box:2', families: [] } });
    expect(await sampleOf('workers_draining')).toBe(0);
    await setDraining(db, 'box:2', secondsFromNow(0));
    expect(await sampleOf('workers_draining')).toBe(1);
    await setDraining(db, 'box:2', null);
    expect(await sampleOf('workers_draining')).toBe(0);

    const paused = { family: 'veo', reason: null, paused_at: secondsFromNow(0) } as const;
    await inTransaction(db, (trx) => pauseFamily(trx, paused));
    expect(await sampleOf('family_paused{family="veo"}')).toBe(1);
    expect(await sampleOf('family_paused{family="kling"}')).toBe(0);
    await inTransaction(db, (trx) => resumeFamily(trx, 'veo'));
    expect(await sampleOf('family_paused{family="veo"}')).toBe(0);
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
