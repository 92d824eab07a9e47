import { describe, expect, test } from 'vitest';
import { secondsFromNow } from '../../db/time.ts';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { appendEvents } from '../events/outbox.ts';
import { workerOf } from '../generation/test/generations.ts';
import { addWebhook, comment, deliveriesOf, holder, newWebhook, outcomeOf, typesIn } from './test/receiver.ts';

const UNKNOWN = '0195c2de-1234-7abc-8def-0123456789ab';

onEachDatabase((house) => {
  const webhooks = () => house().people.owner.client.webhooks;
  const claim = async () => (await workerOf(house()).claimWebhooks({ body: { most: 100, wait: 0 } })).data.webhooks;

  describe('redelivery', () => {
    test('one delivery is sent again under its id', async () => {
      const { id, projectId } = await newWebhook(house());
      await comment(house(), projectId);
      const worker = await holder(house(), id);
      const sent = await worker.drain(200);
      await webhooks().redeliver({ params: { id: sent[0]?.deliveryId ?? '' } });
      expect(await deliveriesOf(house(), id, 'PENDING')).toMatchObject([{ id: sent[0]?.deliveryId, attempts: 0 }]);
      expect(await claim()).toContainEqual({ webhookId: id, epoch: expect.any(Number) });
      const again = await (await holder(house(), id)).drain(200);
      expect(again.map(({ deliveryId, body }) => [deliveryId, body])).toEqual([[sent[0]?.deliveryId, sent[0]?.body]]);
    });

    test('all since a time are sent again, also those that failed or were never sent', async () => {
      const { id, projectId } = await newWebhook(house());
      const early = await comment(house(), projectId);
      await (await holder(house(), id)).drain(200);
      const since = secondsFromNow(0.001);
      await house()
        .deps.db.updateTable('events')
        .set({ at: secondsFromNow(-60) })
        .where('project_id', '=', projectId)
        .execute();
      const late = [await comment(house(), projectId), await comment(house(), projectId)];
      await (await holder(house(), id)).drain((request) => (request.body.includes(late[0] ?? '') ? 200 : 500));
      late.push(await comment(house(), projectId));
      await house()
        .deps.db.updateTable('events')
        .set({ at: secondsFromNow(60) })
        .where('project_id', '=', projectId)
        .where('subject_id', 'in', late)
        .execute();
      await webhooks().redeliverSince({ params: { id }, body: { since } });
      const subjects = (await (await holder(house(), id)).drain(200)).map(
        ({ body }) => JSON.parse(body).data.subject.id,
      );
      expect(subjects.toSorted()).toEqual(late.toSorted());
      expect(subjects).not.toContain(early);
      await webhooks().redeliverSince({ params: { id }, body: { since: secondsFromNow(3600) } });
      expect(await (await holder(house(), id)).drain(200)).toEqual([]);
    });
  });

  describe('leases', () => {
    test('a webhook with new events is claimed once, and again after its lease', async () => {
      const { id, projectId } = await newWebhook(house());
      const own = async () => (await claim()).filter(({ webhookId }) => webhookId === id);
      expect(await own()).toEqual([{ webhookId: id, epoch: 1 }]);
      expect(await own()).toEqual([]);
      const { db, clock } = house().deps;
      await db
        .updateTable('webhooks')
        .set({ lease_until: clock(-1) })
        .where('id', '=', id)
        .execute();
      expect(await own()).toEqual([{ webhookId: id, epoch: 2 }]);

      const { exchangeDeliveries } = workerOf(house());
      const exchange = (epoch: number, deliveryIds: string[] = [], most = 8) =>
        exchangeDeliveries({
          params: { id },
          body: { epoch, outcomes: deliveryIds.map((each) => outcomeOf(each, 200)), most },
        });
      await refusal(exchange(1), 'NOT_FOUND');
      const { data } = await exchange(2);
      expect(typesIn(data.requests)).toEqual(['webhook.created']);
      // An outcome counts once; those of other webhooks do not count.
      const [sent = ''] = data.requests.map(({ deliveryId }) => deliveryId);
      expect((await exchange(2, [sent, UNKNOWN])).data.requests).toEqual([]);
      expect(await own()).toEqual([]);
      await exchange(2, [sent]);
      expect(await deliveriesOf(house(), id)).toMatchObject([{ status: 'SUCCEEDED', attempts: 1 }]);
      await comment(house(), projectId);
      expect(await own()).toEqual([{ webhookId: id, epoch: 3 }]);
      expect((await exchange(3, [], 0)).data.requests).toEqual([]);
      expect(await own()).toEqual([{ webhookId: id, epoch: 4 }]);
    });

    test('a long backlog is read by several runs', async () => {
      const { id, projectId } = await newWebhook(house(), { types: ['folder.created'] });
      const { db } = house().deps;
      const event = { type: 'comment.created' as const, subjectId: UNKNOWN, projectId };
      const data = { file: null, parent: null, attachments: [] };
      const many = Array.from({ length: 2500 }, () => ({ ...event, data }));
      await db.transaction().execute((trx) => appendEvents(trx, null, many));
      await house().people.owner.client.folders.create({ params: { id: projectId }, body: { name: 'Folder' } });
      const isDue = async () => (await claim()).some(({ webhookId }) => webhookId === id);
      const sent: string[] = [];
      let runs = 0;
      for (; await isDue(); runs++) sent.push(...typesIn(await (await holder(house(), id)).drain(200)));
      expect(sent).toEqual(['folder.created']);
      expect(runs).toBe(2);
    });

    test('concurrent claims do not share a webhook', async () => {
      const { projectId } = await newWebhook(house());
      const ids = new Set([projectId]);
      for (let count = 0; count < 5; count++) ids.add(await addWebhook(house(), projectId));
      const claims = (await Promise.all(Array.from({ length: 8 }, claim))).flat().map(({ webhookId }) => webhookId);
      expect(new Set(claims).size).toBe(claims.length);
    });

    test('a webhook of a deleted project is gone', async () => {
      const { id, projectId } = await newWebhook(house());
      const worker = await holder(house(), id);
      await worker.exchange();
      await house().deps.db.deleteFrom('projects').where('id', '=', projectId).execute();
      await refusal(worker.exchange(), 'NOT_FOUND');
    });
  });
});
