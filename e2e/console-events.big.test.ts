import { SCOPES } from '@review/contract';
import { expect, test } from 'vitest';
import { inConsoleOnEachDatabase, OWNER, REVIEWER } from './console-fixture.ts';

/** Longer than every poll interval of the console, shorter than the 45 seconds after which a silent stream is dead. */
const LONG_MS = 40_000;

inConsoleOnEachDatabase('live changes in the console', (fixture, database) => {
  test('a new file, its progress, its end and its review status arrive', async () => {
    const { service } = fixture();
    const projectId = await fixture().newProject('Files');
    const generate = async (prompt: string) => {
      const body = { outputType: 'IMAGE' as const, outputModel: 'gpt-image-2', prompt, folder: null, attachments: [] };
      return (await service.client.generation.generate({ params: { id: projectId }, body })).data.id;
    };
    await using files = await fixture().visit();
    await using runs = await fixture().visit();
    await Promise.all([files.openLive(`/projects/${projectId}`), runs.openLive(`/runs?project=${projectId}`)]);
    const row = files.page.getByRole('list', { name: 'Folders and files' }).getByRole('listitem');
    const run = runs.page.getByRole('main').getByRole('listitem');

    const slow = await generate('A lamp [slow]');
    await row.getByText('Generating', { exact: true }).waitFor();
    await run.getByText('Running', { exact: true }).waitFor();
    const progress = run.getByRole('progressbar');
    await expect.poll(() => progress.getAttribute('aria-valuenow').then(Number)).toBeGreaterThan(0);
    await service.client.files.cancel({ params: { id: slow } });
    await row.getByText('Canceled', { exact: true }).waitFor();
    await run.getByText('Canceled', { exact: true }).waitFor();

    const id = await generate('A lamp');
    await service.waitForEnd(id);
    await run.first().getByText('Ready', { exact: true }).waitFor();
    await service.client.files.setTag({ params: { id }, body: { tag: 'APPROVED' } });
    await row.first().getByText('Approved', { exact: true }).waitFor();
    await service.client.folders.create({ params: { id: projectId }, body: { name: 'Storyboards' } });
    await row.getByText('Storyboards').waitFor();
    expect([...files.takeConsoleErrors(), ...runs.takeConsoleErrors()]).toEqual([]);
  });

  test('a lost connection shows a banner until the page is current again', async () => {
    const { service } = fixture();
    const projectId = await fixture().newProject('Outage');
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.openLive(`/projects/${projectId}/comments`);
    const banner = page.getByRole('status').getByText('Connection lost, reconnecting…');
    await expect.poll(() => banner.count()).toBe(0);
    await service.server?.end();
    await banner.waitFor();
    await page.getByText('No comments yet').waitFor();
    await service.startServer();
    await service.client.comments.create({ params: { id: projectId }, body: { content: 'Back again.' } });
    await banner.waitFor({ state: 'detached' });
    await expect.poll(() => page.getByText('Back again.').count()).toBe(1);
    await service.client.comments.create({ params: { id: projectId }, body: { content: 'Live again.' } });
    await page.getByText('Live again.').waitFor();
    expect(visit.takeConsoleErrors(/ERR_|Failed to load/)).toEqual([]);
  });

  // The rest does not depend on the database.
  if (database === 'postgres') return;

  test('an open stream replaces polling, and a burst of changes is refetched together', async () => {
    const projectId = await fixture().newProject('Burst');
    const { client } = fixture().service;
    const comment = (content: string) => client.comments.create({ params: { id: projectId }, body: { content } });
    await comment('First.');
    await using visit = await fixture().visit();
    const { page } = visit;
    await page.clock.install();
    await visit.openLive(`/projects/${projectId}/comments`);
    const articles = page.getByRole('article');
    await expect.poll(() => articles.count()).toBe(1);
    visit.takeRequests();
    await page.clock.fastForward(LONG_MS);
    await visit.settled();
    expect(visit.takeRequests()).toEqual([]);

    await Promise.all(Array.from({ length: 12 }, (_, index) => comment(`Remark ${index}.`)));
    await expect.poll(() => articles.count()).toBe(13);
    await visit.settled();
    const lists = visit.takeRequests().filter((request) => request.startsWith('QUERY'));
    expect(lists.length).toBeGreaterThan(0);
    expect(lists.length).toBeLessThan(12);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test.each([
    ['without permission for events', false],
    ['while the service has too many streams', true],
  ])('a page %s polls', async (_, isAllowed) => {
    const projectId = await fixture().newProject('Polled');
    const key = await fixture().keyOf(OWNER, isAllowed ? SCOPES : ['comments:read']);
    await using visit = await fixture().visit({ key });
    const { page } = visit;
    await visit.refuseEvents();
    await page.clock.install();
    await visit.open(`/projects/${projectId}/comments`);
    await page.getByText('No comments yet').waitFor();
    await fixture().service.client.comments.create({ params: { id: projectId }, body: { content: 'Polled.' } });
    await page.clock.fastForward(LONG_MS);
    await page.getByText('Polled.').waitFor();
    await expect.poll(() => page.getByText('Connection lost').count()).toBe(0);
    expect(visit.takeConsoleErrors(/503/)).toEqual([]);
  });

  test('a page shows that its reader is no longer a member', async () => {
    const { client, projectId: demo } = fixture().service;
    const id = await fixture().newProject('Confidential');
    const { data: people } = await client.members.list({ params: { id: demo } });
    const user = people.find((member) => member.user.email === REVIEWER)?.user ?? { id: '' };
    const members = [{ user: { id: user.id }, role: 'PROJECT_REVIEWER' as const }];
    await client.members.add({ params: { id }, body: { members } });
    await using visit = await fixture().visit({ key: await fixture().keyOf(REVIEWER) });
    await visit.openLive(`/projects/${id}/comments`);
    await visit.page.getByText('No comments yet').waitFor();
    const { data: joined } = await client.members.list({ params: { id } });
    const member = joined.find((each) => each.user.id === user.id);
    await client.members.remove({ params: { id: member?.id ?? '' } });
    await visit.page.getByRole('alert').getByText('not found', { exact: false }).first().waitFor();
    expect(visit.takeConsoleErrors(/404/)).toEqual([]);
  });

  test('a hidden tab closes its stream, and catches up when it is shown', async () => {
    const projectId = await fixture().newProject('Hidden');
    await using visit = await fixture().visit();
    const { page } = visit;
    await page.clock.install();
    await visit.openLive(`/projects/${projectId}/comments`);
    const show = (state: 'hidden' | 'visible') =>
      page.evaluate(
        `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));`,
      );
    const closed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/events'));
    await show('hidden');
    await page.clock.fastForward(LONG_MS);
    await closed;
    await fixture().service.client.comments.create({ params: { id: projectId }, body: { content: 'Meanwhile.' } });
    await show('visible');
    await page.getByText('Meanwhile.').waitFor();
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
