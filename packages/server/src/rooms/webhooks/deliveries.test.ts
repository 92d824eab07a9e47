import { items } from '@review/client';
import type { EventType } from '@review/contract';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { secondsFromNow } from '../../db/time.ts';
import { sweep } from '../../sweeper.ts';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { storedEvents, typesOf } from '../events/test/streams.ts';
import { workerOf } from '../generation/test/generations.ts';
import { RETRY_DELAYS } from './exchange.ts';
import {
  addWebhook,
  advanceRetries,
  comment,
  deliveriesOf,
  holder,
  newWebhook,
  outcomeOf,
  read,
  typesIn,
  verified,
} from './test/receiver.ts';

onEachDatabase((house) => {
  const webhooks = () => house().people.owner.client.webhooks;
  const claim = async () => (await workerOf(house()).claimWebhooks({ body: { most: 100, wait: 0 } })).data.webhooks;

  describe('events', () => {
    test('are sent from the creation on, signed, with the event as data', async () => {
      const { id, projectId } = await newWebhook(house());
      const subject = await comment(house(), projectId);
      const { secret } = await read(house(), id);
      const requests = await (await holder(house(), id)).drain(204);
      const messages = requests.map((request) => verified(secret ?? '', request));
      const events = await storedEvents(house(), projectId);
      expect(messages.map(({ data }) => data)).toEqual(events.filter(({ type }) => type !== 'project.created'));
      expect(messages.at(-1)).toMatchObject({
        type: 'comment.created',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        data: { subject: { type: 'comment', id: subject } },
      });
      expect(await deliveriesOf(house(), id)).toMatchObject([
        { event: { type: 'comment.created', subject: { id: subject } }, status: 'SUCCEEDED', attempts: 1 },
        {
          event: { type: 'webhook.created' },
          status: 'SUCCEEDED',
          responseStatus: 204,
          error: null,
          nextAttemptAt: null,
        },
      ]);
    });

    test('are signed by the clock of the database, as receivers refuse a signature of other minutes', async () => {
      const { id } = await newWebhook(house());
      const { secret } = await read(house(), id);
      const now = Date.now;
      const ahead = vi.spyOn(Date, 'now').mockImplementation(() => now() + 600_000);
      onTestFinished(() => ahead.mockRestore());
      const [request] = await (await holder(house(), id)).exchange();
      ahead.mockRestore();
      expect(request && verified(secret ?? '', request).type).toBe('webhook.created');
    });

    test('of other types are not sent, but a test is', async () => {
      const { id, projectId } = await newWebhook(house(), { types: ['folder.created'] });
      const other = await addWebhook(house(), projectId);
      await comment(house(), projectId);
      await house().people.owner.client.folders.create({ params: { id: projectId }, body: { name: 'Folder' } });
      await webhooks().test({ params: { id } });
      expect(typesIn(await (await holder(house(), id)).drain(200))).toEqual(['folder.created', 'webhook.tested']);
      expect(typesIn(await (await holder(house(), other)).drain(200))).not.toContain('webhook.tested');
    });

    test('are those that the scopes of the credential may read', async () => {
      const { projectId } = await newWebhook(house());
      const { client } = await house().withScopes('owner', ['projects:write', 'folders:write']);
      const { data } = await client.webhooks.create({
        params: { id: projectId },
        body: { url: 'https://example.com/' },
      });
      const worker = await holder(house(), data.id);
      await comment(house(), projectId);
      expect(typesIn(await worker.drain(200))).toEqual(['webhook.created']);
      await webhooks().update({ params: data, body: { types: ['comment.created'] } });
      await comment(house(), projectId);
      expect(typesIn(await worker.drain(200))).toEqual(['comment.created']);
    });

    test('more than one batch are all sent, once', async () => {
      const types: EventType[] = ['comment.created'];
      const { id, projectId } = await newWebhook(house(), { types });
      const ids = await Promise.all(Array.from({ length: 230 }, () => comment(house(), projectId)));
      const requests = await (await holder(house(), id)).drain(200);
      const subjects = requests.map(({ body }) => JSON.parse(body).data.subject.id);
      expect(subjects.toSorted()).toEqual(ids.toSorted());
      const listed: string[] = [];
      for await (const { event } of items(webhooks().deliveries, { params: { id }, body: {} })) {
        listed.push(event.subject.id);
      }
      expect(listed.toSorted()).toEqual(ids.toSorted());
    });

    test('wait while the webhook is off', async () => {
      const { id, projectId } = await newWebhook(house());
      await webhooks().update({ params: { id }, body: { active: false } });
      await comment(house(), projectId);
      await refusal((await holder(house(), id)).exchange(), 'NOT_FOUND');
      await webhooks().update({ params: { id }, body: { active: true } });
      expect(typesIn(await (await holder(house(), id)).drain(200))).toContain('comment.created');
    });

    test('are swept with their deliveries', async () => {
      const { id, projectId } = await newWebhook(house());
      await (await holder(house(), id)).exchange();
      expect(await deliveriesOf(house(), id)).toHaveLength(1);
      const { db } = house().deps;
      await db
        .updateTable('events')
        .set({ at: secondsFromNow(-31 * 86_400) })
        .where('project_id', '=', projectId)
        .execute();
      await sweep(house().deps);
      expect(await deliveriesOf(house(), id)).toEqual([]);
      await comment(house(), projectId);
      expect(typesIn(await (await holder(house(), id)).drain(200))).toEqual(['comment.created']);
    });
  });

  describe('order', () => {
    test('an event that waits for one that was swept is sent', async () => {
      const { id, projectId } = await newWebhook(house(), { types: ['comment.created', 'comment.updated'] });
      const subject = await comment(house(), projectId);
      const worker = await holder(house(), id);
      await worker.drain(500);
      await house().people.owner.client.comments.update({ params: { id: subject }, body: { content: 'Better.' } });
      expect(await worker.drain(500)).toEqual([]);
      const { db } = house().deps;
      await db
        .updateTable('events')
        .set({ at: secondsFromNow(-31 * 86_400) })
        .where('project_id', '=', projectId)
        .where('type', '!=', 'comment.updated')
        .execute();
      await sweep(house().deps);
      expect((await claim()).map(({ webhookId }) => webhookId)).toContain(id);
      expect(typesIn(await (await holder(house(), id)).drain(200))).toEqual(['comment.updated']);
    });

    test('the events of a subject are sent one after the other, and wait for a failed one', async () => {
      const { id, projectId } = await newWebhook(house(), { types: ['comment.created', 'comment.updated'] });
      const [first, second] = [await comment(house(), projectId), await comment(house(), projectId)];
      const { comments } = house().people.owner.client;
      await comments.update({ params: { id: first }, body: { content: 'Better.' } });
      const worker = await holder(house(), id);
      const subjectOf = ({ body }: { body: string }) => JSON.parse(body).data.subject.id;
      const requests = await worker.drain((request) => (subjectOf(request) === first ? 500 : 200));
      expect(requests.map(subjectOf)).toEqual([first, second]);
      const waiting = await deliveriesOf(house(), id, 'PENDING');
      expect(waiting.map(({ event, attempts }) => [event.type, attempts])).toEqual([
        ['comment.updated', 0],
        ['comment.created', 1],
      ]);
      expect(waiting.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([null, expect.any(String)]);
      await comments.update({ params: { id: first }, body: { content: 'Best.' } });
      expect(await worker.drain(200)).toEqual([]);
      await advanceRetries(house(), id);
      const retried = await worker.drain(200);
      expect(typesIn(retried)).toEqual(['comment.created', 'comment.updated', 'comment.updated']);
      expect(requests.concat(retried).map(({ attempt }) => attempt)).toEqual([1, 1, 2, 1, 1]);
      expect(new Set(retried.map(subjectOf))).toEqual(new Set([first]));
    });
  });

  describe('retries', () => {
    test('follow the schedule under one id, and give up after three days', async () => {
      const { id, projectId } = await newWebhook(house(), { types: ['comment.created'] });
      await comment(house(), projectId);
      const worker = await holder(house(), id);
      const ids = new Set<string | undefined>();
      const delays: number[] = [];
      for (let attempt = 1; attempt <= RETRY_DELAYS.length; attempt++) {
        const [request] = await worker.drain(503);
        ids.add(request?.headers['webhook-id']);
        const [delivery] = await deliveriesOf(house(), id);
        expect(delivery).toMatchObject({
          status: 'PENDING',
          attempts: attempt,
          responseStatus: 503,
          id: request?.deliveryId,
        });
        delays.push(secondsUntil(delivery?.nextAttemptAt));
        await advanceRetries(house(), id);
      }
      for (const [index, delay] of delays.entries())
        expect(Math.abs(delay - (RETRY_DELAYS[index] ?? 0))).toBeLessThan(5);
      expect(RETRY_DELAYS.reduce((sum, delay) => sum + delay)).toBe(3 * 24 * 60 * 60);
      expect(ids.size).toBe(1);
      await worker.drain(503);
      expect(await deliveriesOf(house(), id)).toMatchObject([{ status: 'FAILED', nextAttemptAt: null }]);
    });

    test('the last failure is in the webhook until a success', async () => {
      const { id, projectId } = await newWebhook(house());
      const worker = await holder(house(), id);
      const requests = await worker.exchange();
      const error = { responseStatus: null, responseExcerpt: null, error: 'No answer within 10 seconds.' };
      await worker.exchange(requests.map(({ deliveryId }) => ({ deliveryId, ...error })));
      expect(await read(house(), id)).toMatchObject({
        active: true,
        failingSince: expect.any(String),
        lastFailure: { at: expect.any(String), responseStatus: null, error: error.error },
      });
      await comment(house(), projectId);
      await worker.drain(200);
      expect(await read(house(), id)).toMatchObject({ failingSince: null, lastFailure: { error: error.error } });
    });

    test('a delivery keeps a beginning of the answer that both databases can store', async () => {
      const { id } = await newWebhook(house());
      const worker = await holder(house(), id);
      const [request] = await worker.exchange();
      await worker.exchange([outcomeOf(request?.deliveryId ?? '', 500, 'a\0b\uD83C')]);
      expect(await deliveriesOf(house(), id)).toMatchObject([{ responseStatus: 500, responseExcerpt: 'ab\uFFFD' }]);
    });
  });

  describe('a webhook is switched off with an event', () => {
    const lastEvent = async (projectId: string) => (await storedEvents(house(), projectId)).at(-1);

    test('after 410', async () => {
      const { id, projectId } = await newWebhook(house());
      await (await holder(house(), id)).drain(410);
      expect(await read(house(), id)).toMatchObject({ active: false, disabledReason: 'GONE' });
      expect(await deliveriesOf(house(), id)).toMatchObject([{ status: 'FAILED', responseStatus: 410 }]);
      expect(await lastEvent(projectId)).toMatchObject({
        type: 'webhook.disabled',
        subject: { type: 'webhook', id },
        actor: null,
        data: { reason: 'GONE' },
      });
    });

    test('after three days without a success', async () => {
      const { id, projectId } = await newWebhook(house());
      const worker = await holder(house(), id);
      await worker.drain(500);
      const { db, clock } = house().deps;
      const failedFor = (seconds: number) =>
        db
          .updateTable('webhooks')
          .set({ failing_since: clock(-seconds) })
          .where('id', '=', id)
          .execute();
      await failedFor(3 * 86_400 - 60);
      await comment(house(), projectId);
      await worker.drain(500);
      expect((await read(house(), id)).active).toBe(true);
      await failedFor(3 * 86_400);
      await comment(house(), projectId);
      await worker.drain(500);
      expect(await read(house(), id)).toMatchObject({ active: false, disabledReason: 'FAILING' });
      expect(await lastEvent(projectId)).toMatchObject({ type: 'webhook.disabled', data: { reason: 'FAILING' } });
      expect(await claim()).not.toContainEqual(expect.objectContaining({ webhookId: id }));

      await webhooks().update({ params: { id }, body: { active: true } });
      expect(await read(house(), id)).toMatchObject({ active: true, disabledReason: null, failingSince: null });
      await advanceRetries(house(), id);
      const caughtUp = await (await holder(house(), id)).drain(200);
      expect(typesIn(caughtUp)).toEqual([
        'webhook.created',
        'comment.created',
        'comment.created',
        'webhook.disabled',
        'webhook.updated',
      ]);
    });

    test('if its secret cannot be decrypted, until it is rotated', async () => {
      const { id } = await newWebhook(house());
      await house().deps.db.updateTable('webhooks').set({ sealed_secret: 'other' }).where('id', '=', id).execute();
      expect((await read(house(), id)).secret).toBeNull();
      expect(await (await holder(house(), id)).drain(200)).toEqual([]);
      expect(await read(house(), id)).toMatchObject({ active: false, disabledReason: 'SECRET_UNREADABLE' });
      await webhooks().rotateSecret({ params: { id } });
      await webhooks().update({ params: { id }, body: { active: true } });
      const { secret } = await read(house(), id);
      for (const request of await (await holder(house(), id)).drain(200)) verified(secret ?? '', request);
    });
  });

  describe('rotation', () => {
    test('both secrets sign for 24 hours, then only the new one', async () => {
      const { id, projectId } = await newWebhook(house());
      const before = (await read(house(), id)).secret ?? '';
      await webhooks().rotateSecret({ params: { id } });
      const { secret, previousSecretExpiresAt } = await read(house(), id);
      expect(secret).not.toBe(before);
      expect(Math.abs(secondsUntil(previousSecretExpiresAt) - 86_400)).toBeLessThan(5);
      const worker = await holder(house(), id);
      const overlapping = await worker.drain(200);
      expect(overlapping.length).toBeGreaterThan(0);
      for (const request of overlapping) for (const each of [before, secret ?? '']) verified(each, request);

      const { db } = house().deps;
      await db
        .updateTable('webhooks')
        .set({ previous_secret_until: secondsFromNow(-1) })
        .where('id', '=', id)
        .execute();
      expect((await read(house(), id)).previousSecretExpiresAt).toBeNull();
      await comment(house(), projectId);
      const [request] = await worker.drain(200);
      verified(secret ?? '', request ?? { deliveryId: '', url: '', headers: {}, body: '' });
      expect(() => new Webhook(before).verify(request?.body ?? '', request?.headers ?? {})).toThrow();
    });
  });

  test('a change of a webhook is in the activity list, for leads', async () => {
    const { id, projectId } = await newWebhook(house());
    await webhooks().test({ params: { id } });
    const { data } = await house().people.owner.client.events.list({ params: { id: projectId }, body: {} });
    expect(typesOf(data).slice(0, 2)).toEqual(['webhook.tested', 'webhook.created']);
  });
});

const secondsUntil = (timestamp: string | null | undefined) =>
  (Date.parse(`${timestamp?.replace(' ', 'T').slice(0, 23)}Z`) - Date.now()) / 1000;
