import type { Scope } from '@review/contract';
import { SCOPES } from '@review/contract';
import { expect, test } from 'vitest';
import { inConsole, OWNER, REVIEWER } from './console-fixture.ts';

const without = (scope: Scope): Scope[] => SCOPES.filter((each) => each !== scope);

inConsole('members and access links in the console', (fixture) => {
  test('members can be added, changed and removed, except the last owner', async () => {
    const projectId = await fixture().newProject('With people');
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/projects/${projectId}/members`);
    await page.getByRole('button', { name: 'Add members' }).click();
    await page.waitForURL(/add=true/);
    await page.reload();
    const form = page.getByRole('dialog');
    await form.getByLabel('Role').selectOption('reviewer');
    await form.getByRole('checkbox', { name: 'Rui Reviewer' }).check();
    await form.getByRole('checkbox', { name: 'Mia Member' }).check();
    await visit.expectAccessible('the form for members');
    await form.getByRole('button', { name: 'Add 2 people' }).click();
    const rows = page.getByRole('list', { name: 'Members' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByLabel('Role of Mia Member').selectOption('manager');
    await expect
      .poll(async () => (await fixture().service.client.members.list({ params: { id: projectId } })).data)
      .toContainEqual(expect.objectContaining({ role: 'PROJECT_MANAGER' }));
    await page.getByRole('button', { name: 'Remove Rui Reviewer' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).waitFor();
    await visit.expectAccessible('the question before a member is removed');
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await expect.poll(() => rows.count()).toBe(2);
    await page.reload();
    await expect.poll(() => page.getByLabel('Role of Olive Owner').isDisabled()).toBe(true);
    await page
      .getByRole('note', { name: /at least one owner/ })
      .first()
      .waitFor();
    await visit.expectAccessible('members');
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('an access link can be created, copied, redeemed and revoked', async () => {
    const projectId = await fixture().newProject('Shared by link');
    await using visit = await fixture().visit();
    const { page } = visit;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await visit.open(`/projects/${projectId}/links`);
    await page.getByRole('button', { name: 'New access link' }).first().click();
    await page.waitForURL(/create=true/);
    await page.getByLabel('For whom').fill('The client');
    await page.getByLabel('They join as').selectOption('reviewer');
    await visit.expectAccessible('the form for a link');
    await page.getByRole('button', { name: 'Create link' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'The client' });
    await row.getByRole('button', { name: 'Copy link' }).click();
    await row.getByRole('button', { name: 'Copied' }).waitFor();
    const address = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(address).toMatch(/\/join#[\w-]{20,}$/);
    await visit.expectAccessible('access links');

    await using other = await fixture().visit({ key: await fixture().keyOf(REVIEWER) });
    await other.page.goto(address);
    await other.page.reload();
    await other.expectAccessible('the page of a link');
    await other.page.getByRole('button', { name: 'Join the project' }).click();
    await other.page.getByRole('link', { name: 'Shared by link' }).click();
    await other.page.getByRole('heading', { name: 'Shared by link' }).waitFor();
    const { data } = await fixture().service.client.members.list({ params: { id: projectId } });
    expect(data).toContainEqual(expect.objectContaining({ role: 'PROJECT_REVIEWER' }));

    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).waitFor();
    await visit.expectAccessible('the question before a link is revoked');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No access links').waitFor();
    await other.page.goto(address);
    await other.page.getByRole('button', { name: 'Join the project' }).click();
    await other.page.getByRole('alert').getByText('Not found').waitFor();
    await other.expectAccessible('the page of a link that was revoked');
    expect([...visit.takeConsoleErrors(), ...other.takeConsoleErrors(/404/)]).toEqual([]);
  });

  test('without the scope the key of a link is hidden; other roles cannot open the page', async () => {
    const { projectId, client } = fixture().service;
    await client.accessLinks.create({
      params: { id: projectId },
      body: { role: 'PROJECT_MEMBER', description: 'Ours' },
    });
    await using visit = await fixture().visit({ key: await fixture().keyOf(OWNER, without('access-links:read.key')) });
    await visit.open(`/projects/${projectId}/links`);
    const copy = visit.page
      .getByRole('listitem')
      .filter({ hasText: 'Ours' })
      .getByRole('button', { name: 'Copy link' });
    await expect.poll(() => copy.getAttribute('aria-disabled')).toBe('true');
    await copy.focus();
    await visit.page.getByRole('tooltip').getByText('access-links:read.key').waitFor();

    await using reviewer = await fixture().visit({ key: await fixture().keyOf(REVIEWER) });
    await reviewer.open(`/projects/${projectId}/links`);
    await reviewer.page.getByRole('note').getByText('Only owners and managers of the project can do this').waitFor();
    expect([...visit.takeConsoleErrors(), ...reviewer.takeConsoleErrors()]).toEqual([]);
  });
});
