import { expect, test } from 'vitest';
import { inConsole, REVIEWER } from './console-fixture.ts';

inConsole('mentions in the console', (fixture) => {
  test('people are mentioned by keyboard, shown by name, and stay mentioned in an edit', async () => {
    const { service } = fixture();
    const { client, projectId } = service;
    const fileId = await service.generate('markdown', 'Notes');
    await service.waitForEnd(fileId);
    const members = (await client.members.list({ params: { id: projectId } })).data;
    const idOf = (name: string) => members.find(({ user }) => user.name === name)?.user.id;
    const [rui, max] = [idOf('Rui Reviewer'), idOf('Max Manager')];
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${fileId}`);
    const field = page.getByRole('textbox', { name: 'Comment', exact: true });
    const list = page.getByRole('listbox', { name: 'People to mention' });
    await field.click();
    await page.keyboard.type('Mail me@example.com, ');
    await expect.poll(() => list.count()).toBe(0);
    await page.keyboard.type('@r');
    const options = list.getByRole('option');
    // The file is hidden from the restricted reviewer, Rae.
    await expect.poll(() => options.allTextContents()).toEqual([expect.stringContaining('Rui Reviewer')]);
    await visit.expectAccessible('an open list of people');
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await page.keyboard.type(' @m');
    await expect.poll(() => options.count()).toBe(2);
    await expect.poll(() => list.getByRole('option', { selected: true }).textContent()).toContain('Max Manager');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => list.getByRole('option', { selected: true }).textContent()).toContain('Mia Member');
    const active = await field.getAttribute('aria-activedescendant');
    await expect.poll(() => list.getByRole('option', { selected: true }).getAttribute('id')).toBe(active);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await list.waitFor({ state: 'detached' });
    await page.keyboard.type('and @Rui Reviewer, look.');
    await expect.poll(() => field.inputValue()).toBe('Mail me@example.com, @r @Max Manager and @Rui Reviewer, look.');
    await page.keyboard.press('Control+Enter');

    const comment = page.getByRole('article', { name: 'Comment by Olive Owner' });
    await comment.getByText('@Max Manager', { exact: true }).waitFor();
    await comment.getByText('@Rui Reviewer', { exact: true }).waitFor();
    const read = async () => (await client.comments.listOnFile({ params: { id: fileId } })).data[0]?.content;
    expect(await read()).toBe(`Mail me@example.com, @r <@${max}> and <@${rui}>, look.`);

    await comment.getByRole('button', { name: 'Actions for this comment' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const edited = page.getByLabel('Edit the comment');
    await expect.poll(() => edited.inputValue()).toContain('@Max Manager and @Rui Reviewer, look.');
    await edited.fill('**@Rui Reviewer**: only you.');
    await page.getByRole('button', { name: 'Save' }).click();
    await comment.locator('strong').getByText('@Rui Reviewer').waitFor();
    await expect.poll(read).toBe(`**<@${rui}>**: only you.`);

    await visit.open(`/projects/${projectId}/activity`);
    await page.getByText('Olive Owner mentioned Max Manager, Rui Reviewer').waitFor();
    expect(visit.takeConsoleErrors()).toEqual([]);

    await using other = await fixture().visit({ key: await fixture().keyOf(REVIEWER), phone: true });
    await other.open(`/projects/${projectId}/comments`);
    await other.page.getByRole('textbox', { name: 'Comment', exact: true }).fill('Asking @ra');
    await other.page.getByRole('option', { name: /Rae Restricted/ }).click();
    await other.page.getByRole('button', { name: 'Comment', exact: true }).click();
    await other.page.getByRole('article').getByText('@Rae Restricted', { exact: true }).waitFor();
    expect(other.takeConsoleErrors()).toEqual([]);
  });
});
