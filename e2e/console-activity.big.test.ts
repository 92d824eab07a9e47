import { expect, test } from 'vitest';
import { inConsole, OWNER, REVIEWER } from './console-fixture.ts';

inConsole('the activity of a project', (fixture) => {
  test('lists who did what, follows changes, and filters by kind and person', async () => {
    const { service } = fixture();
    const { projectId, client } = service;
    const params = { id: projectId };
    await client.folders.create({ params, body: { name: 'Storyboards' } });
    const reviewer = service.clientAt(service.url, { token: await fixture().keyOf(REVIEWER) });
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.openLive(`/projects/${projectId}/activity`);
    const rows = page.getByRole('list', { name: 'Activity, newest first' }).getByRole('listitem');
    await rows.filter({ hasText: 'created a folder' }).getByRole('link', { name: 'Storyboards' }).waitFor();
    visit.takeRequests();

    const { data: comment } = await reviewer.comments.create({ params, body: { content: 'Good.' } });
    await rows.first().getByText('Rui Reviewer commented').waitFor();
    await reviewer.reactions.create({ params: { id: comment.id }, body: { type: '🎉' } });
    await rows.first().getByText('🎉').waitFor();
    await rows.first().getByRole('link', { name: 'comment on the project' }).click();
    await page.waitForURL(new RegExp(`thread=${comment.id}`));
    await page.goBack();

    await page.getByLabel('About', { exact: true }).selectOption('Comments');
    await rows.filter({ hasText: 'Storyboards' }).waitFor({ state: 'detached' });
    await rows.first().getByText('reacted to a comment').waitFor();
    await page.getByLabel('By', { exact: true }).selectOption('Rui Reviewer');
    await page.waitForURL(/about=comments&by=/);
    await client.comments.create({ params, body: { content: 'By the owner.' } });
    await reviewer.comments.resolve({ params: { id: comment.id } });
    await rows.first().getByText('resolved a comment').waitFor();
    await expect.poll(() => rows.filter({ hasText: 'Olive Owner' }).count()).toBe(0);
    await visit.expectAccessible('the activity of a project');
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('loads older changes on demand', async () => {
    const projectId = await fixture().newProject('Busy');
    const { client } = fixture().service;
    for (let number = 1; number <= 60; number++) {
      await client.folders.create({ params: { id: projectId }, body: { name: `Folder ${number}` } });
    }
    await using visit = await fixture().visit({ key: await fixture().keyOf(OWNER, ['projects:read', 'folders:read']) });
    const { page } = visit;
    await visit.openLive(`/projects/${projectId}/activity`);
    const rows = page.getByRole('list', { name: 'Activity, newest first' }).getByRole('listitem');
    await page.getByRole('button', { name: 'Show older changes' }).click();
    await rows.filter({ hasText: 'created the project' }).waitFor();
    await expect.poll(() => rows.count()).toBe(61);
    await expect
      .poll(() => page.getByLabel('By', { exact: true }).count(), { message: 'the key may not list members' })
      .toBe(0);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
