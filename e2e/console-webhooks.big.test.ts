import { once } from 'node:events';
import { createServer } from 'node:http';
import { contract } from '@review/contract';
import { expect, test } from 'vitest';
import { inConsole, OWNER, REVIEWER } from './console-fixture.ts';

/** Receives deliveries, records their types and answers with `status`. */
async function openReceiver() {
  const receiver = { status: 200, types: [] as string[], url: '' };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const bytes of request) body += String(bytes);
    const { type }: { type: string } = JSON.parse(body);
    receiver.types.push(type);
    response.writeHead(receiver.status).end(`heard ${type}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  receiver.url = `http://127.0.0.1:${address.port}/hook`;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return Object.assign(receiver, { [Symbol.asyncDispose]: close });
}

inConsole(
  'webhooks in the console',
  (fixture) => {
    test('a webhook is created, tested, rotated, switched off and on, and deleted', async () => {
      const projectId = await fixture().newProject('Hooked');
      const { client } = fixture().service;
      await using receiver = await openReceiver();
      await using visit = await fixture().visit();
      const { page } = visit;
      await visit.openLive(`/projects/${projectId}/webhooks`);
      await page.getByText('No webhooks').waitFor();
      await page.getByRole('button', { name: 'New webhook' }).first().click();
      const form = page.getByRole('dialog');
      await form.getByLabel('URL').fill('http://example.com/');
      await form.getByRole('button', { name: 'Create webhook' }).click();
      await form.getByRole('alert').getByText('Must be an https URL').waitFor();
      await form.getByLabel('URL').fill(receiver.url);
      await form.getByLabel('Description').fill('To the chat');
      await form.getByLabel('All events').uncheck();
      await form.getByLabel('comment.created').check();
      await visit.expectAccessible('the form of a webhook');
      await form.getByRole('button', { name: 'Create webhook' }).click();
      await page.getByRole('heading', { name: receiver.url }).waitFor();
      await page.getByText('No deliveries yet').waitFor();

      const secretIn = async () => {
        const [webhook] = (await client.webhooks.list({ params: { id: projectId } })).data;
        return (await client.webhooks.get({ params: { id: webhook?.id ?? '' } })).data.secret ?? '';
      };
      const first = await secretIn();
      await expect.poll(() => page.getByText(first).count()).toBe(0);
      await page.getByRole('button', { name: 'Show', exact: true }).click();
      await page.getByText(first).waitFor();
      await page.getByRole('button', { name: 'Rotate' }).click();
      await page.getByRole('button', { name: 'Rotate secret' }).waitFor();
      await visit.expectAccessible('the question before a secret is rotated');
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      await page.getByText('The former secret signs too').waitFor();
      await page.getByText(await secretIn()).waitFor();
      await expect.poll(() => page.getByText(first).count()).toBe(0);

      const deliveries = page.getByRole('list', { name: 'Deliveries, newest first' }).getByRole('listitem');
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await deliveries.first().getByText('Delivered', { exact: true }).waitFor();
      await client.comments.create({ params: { id: projectId }, body: { content: 'Good.' } });
      const comment = deliveries.filter({ hasText: 'comment.created' });
      await comment.getByText('Delivered', { exact: true }).waitFor();
      await comment.getByText('Answered with status 200.').click();
      await comment.getByText('heard comment.created').waitFor();
      await visit.expectAccessible('a delivery with its answer');
      expect(receiver.types).toEqual(['webhook.tested', 'comment.created']);

      const active = page.getByRole('switch', { name: 'Active' });
      const isActive = async () => (await client.webhooks.list({ params: { id: projectId } })).data[0]?.active;
      for (const expected of [false, true]) {
        await active.press('Space');
        await expect.poll(isActive).toBe(expected);
        await expect.poll(() => active.isEnabled()).toBe(true);
        await expect.poll(() => active.isChecked()).toBe(expected);
      }
      await visit.settled();
      await visit.expectAccessible('a webhook');
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'Delete webhook' }).waitFor();
      await visit.expectAccessible('the question before a webhook is deleted');
      await page.getByRole('button', { name: 'Delete webhook' }).click();
      await page.getByText('No webhooks').waitFor();
      expect(visit.takeConsoleErrors(/400/)).toEqual([]);
    });

    test('a webhook that is being deleted is not read again', async () => {
      const projectId = await fixture().newProject('Unhooked');
      const { data } = await fixture().service.client.webhooks.create({
        params: { id: projectId },
        body: { url: 'https://example.com/' },
      });
      await using visit = await fixture().visit();
      const { page } = visit;
      await page.clock.install();
      await visit.openLive(`/projects/${projectId}/webhooks/${data.id}`);
      await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
      const deleted = Promise.withResolvers<void>();
      const answered = Promise.withResolvers<void>();
      await page.route(`**/api/webhooks/${data.id}`, async (route) => {
        if (route.request().method() !== 'DELETE') return route.continue();
        const response = await route.fetch();
        deleted.resolve();
        await answered.promise;
        await route.fulfill({ response });
      });
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'Delete webhook' }).click();
      await deleted.promise;
      await page.clock.fastForward(6000);
      await page.evaluate('fetch("/healthz")');
      answered.resolve();
      await page.getByText('No webhooks').waitFor();
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('a failed delivery shows the answer, and one or all since a time are delivered again', async () => {
      const projectId = await fixture().newProject('Failing');
      const { client } = fixture().service;
      await using receiver = await openReceiver();
      receiver.status = 500;
      const { data } = await client.webhooks.create({ params: { id: projectId }, body: { url: receiver.url } });
      await using visit = await fixture().visit();
      const { page } = visit;
      await visit.openLive(`/projects/${projectId}/webhooks/${data.id}`);
      await client.comments.create({ params: { id: projectId }, body: { content: 'Unheard.' } });
      const deliveries = page.getByRole('list', { name: 'Deliveries, newest first' }).getByRole('listitem');
      const comment = deliveries.filter({ hasText: 'comment.created' });
      await comment.getByText(/answered with status 500/).waitFor();
      await comment.getByText('Waiting', { exact: true }).waitFor();
      receiver.status = 200;
      await comment.getByRole('button', { name: 'Redeliver' }).click();
      await comment.getByText('Delivered', { exact: true }).waitFor();

      const before = receiver.types.filter((type) => type === 'comment.created').length;
      await page.getByRole('button', { name: 'Redeliver since…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Redeliver' }).waitFor();
      await visit.expectAccessible('the form for what is delivered again');
      await page.getByRole('dialog').getByRole('button', { name: 'Redeliver' }).click();
      await expect.poll(() => receiver.types.filter((type) => type === 'comment.created').length).toBe(before + 1);
      await page.getByLabel('Status of deliveries').selectOption('Failed');
      await page.getByText('No delivery matches').waitFor();
      await visit.expectAccessible('deliveries of which none matches');
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('a reviewer and a key without the scope read why webhooks are closed to them', async () => {
      const { projectId } = fixture().service;
      const [scope] = contract.webhooks.list.metadata.scopes;
      for (const [key, reason] of [
        [await fixture().keyOf(REVIEWER), 'Only owners and managers of the project can do this'],
        [await fixture().keyOf(OWNER, ['projects:read']), `This key lacks the scope ${scope}`],
      ] as const) {
        await using visit = await fixture().visit({ key });
        await visit.openLive(`/projects/${projectId}/webhooks`);
        await visit.page.getByRole('note').getByText(reason).first().waitFor();
        await visit.expectAccessible('why webhooks are closed');
        expect(visit.takeConsoleErrors()).toEqual([]);
      }
    });
  },
  { WEBHOOK_LOOPBACK: 'on' },
);
