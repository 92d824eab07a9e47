import { expect, test } from 'vitest';
import { inConsole, REVIEWER } from './console-fixture.ts';

const RESTRICTED = 'rae@demo.example';

inConsole('the home of reviewers', (fixture) => {
  test('lists what waits for a decision, which is made and undone there', async () => {
    const { client, projectId } = fixture().service;
    const params = { id: projectId };
    const waiting = (await client.versions.listMine({ body: {} })).data;
    for (const { id } of waiting) await client.versions.setStatus({ params: { id }, body: { status: 'CLOSED' } });
    await using visit = await fixture().visit({ key: await fixture().keyOf(REVIEWER) });
    const { page } = visit;
    await visit.open('/');
    await page.waitForURL('**/review');
    await page.getByText('Nothing waits for you').waitFor();
    const make = async (name: string, allowRestricted = false) =>
      (await client.versions.create({ params, body: { name, allowRestricted } })).data.id;
    const first = await make('First cut', true);
    await make('Second cut');
    await page.reload();
    const rows = page.getByRole('list', { name: 'Versions to review' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(2);
    await visit.expectAccessible('what needs a review');
    const status = async () => (await client.versions.get({ params: { id: first } })).data.status;
    await page.getByRole('button', { name: 'Approve First cut' }).click();
    await page.getByRole('status').getByText('First cut: Approved.').waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    expect(await status()).toBe('APPROVED');
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    expect(await status()).toBe('NEED_REVIEW');
    await page.getByRole('link', { name: 'Second cut' }).click();
    await page.waitForURL(/\/versions\//);
    expect(visit.takeConsoleErrors()).toEqual([]);

    await using other = await fixture().visit({ key: await fixture().keyOf(RESTRICTED), phone: true, dark: true });
    await other.open('/');
    await other.page.getByRole('link', { name: 'First cut' }).waitFor();
    await expect.poll(() => other.page.getByText('Second cut').count()).toBe(0);
    const approve = other.page.getByRole('button', { name: 'Approve First cut' });
    await expect.poll(() => approve.getAttribute('aria-disabled')).toBe('true');
    await approve.focus();
    await other.page
      .getByText(/you are its restricted reviewer/)
      .last()
      .waitFor();
    await other.expectAccessible('what a restricted reviewer may see');
    expect(other.takeConsoleErrors()).toEqual([]);
  });

  test('people who make files start with their runs', async () => {
    await using visit = await fixture().visit();
    await visit.open('/');
    await visit.page.waitForURL('**/runs');
    await visit.page.getByRole('link', { name: 'Review', exact: true }).click();
    await visit.page.getByRole('heading', { name: 'Needs your review' }).waitFor();
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
