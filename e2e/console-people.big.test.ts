import { SCOPES } from '@review/contract';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { joinWorkspace } from '../packages/server/src/accounts/queries.ts';
import { inConsole, OWNER, REVIEWER } from './console-fixture.ts';

const DEMO = ['Max Manager', 'Mia Member', 'Olive Owner', 'Rae Restricted', 'Rui Reviewer'];
const LONG = 'typedquicklyandkept';

/** Types the next letter at each change of the URL, before the page has read the URL. */
const typeAtUrlChanges = (letters: string) => `{
  const letters = [...${JSON.stringify(letters)}];
  for (const name of ['pushState', 'replaceState']) {
    const change = history[name];
    history[name] = (...args) => {
      change.apply(history, args);
      if (document.activeElement.tagName === 'INPUT') document.execCommand('insertText', false, letters.shift() ?? '');
    };
  }
}`;

inConsole('people in the console', (fixture) => {
  let namesakes: string[];
  beforeAll(async () => {
    const { client, database } = fixture().service;
    const workspaceId = (await client.ping.ping()).data.workspace.id;
    const join = (email: string) =>
      database.db.transaction().execute((trx) => joinWorkspace(trx, { workspaceId, email, name: 'Sam Same' }));
    namesakes = [await join('first@demo.example'), await join('second@demo.example')];
  });

  const field = (page: Page) => page.getByRole('textbox', { name: 'Search people' });
  const people = (page: Page) => page.getByRole('list', { name: 'People' }).getByRole('listitem');
  const expectNames = (page: Page, names: readonly string[]) =>
    expect.poll(() => people(page).locator('[class*=name]').allInnerTexts()).toEqual(names);

  test('are listed by name, with address and id, and found by each', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await visit.open('/');
    await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'People' }).click();
    await expectNames(page, [...DEMO, 'Sam Same', 'Sam Same']);
    await page.getByRole('status').getByText('7 people').waitFor();
    await visit.expectAccessible('people');
    await field(page).fill('SECOND@demo');
    await expectNames(page, ['Sam Same']);
    await people(page).getByText('second@demo.example').waitFor();
    await people(page).getByRole('button', { name: 'Copy the id of Sam Same' }).click();
    const id = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(id).toBe(namesakes[1]);
    await field(page).fill('rae');
    await expectNames(page, ['Rae Restricted']);
    await page.reload();
    await expectNames(page, ['Rae Restricted']);
    await expect.poll(() => field(page).inputValue()).toBe('rae');
    await field(page).fill(id);
    await expectNames(page, ['Sam Same']);
    await field(page).fill('no such person');
    await page.getByText('Nobody matches').waitFor();
    await page.getByRole('status').getByText('0 of 7 people').waitFor();
    await visit.expectAccessible('nobody');
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('are found with Ctrl K, which marks the person among those of the same name', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    const find = async (words: string) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search everything' }).fill(words);
    };
    await visit.open('/runs');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await find('second@demo');
    await page.getByRole('option', { name: /Sam Same/ }).waitFor();
    await page.keyboard.press('Enter');
    await expectNames(page, ['Sam Same', 'Sam Same']);
    await expect.poll(() => field(page).inputValue()).toBe('Sam Same');
    const marked = page.locator('[aria-current=true]');
    await marked.getByText('second@demo.example').waitFor();
    expect(await marked.count()).toBe(1);
    await visit.expectAccessible('a person');

    await field(page).focus();
    await find('Mia Mem');
    await page.getByRole('option', { name: /Mia Member/ }).click();
    await expectNames(page, ['Mia Member']);
    await expect.poll(() => field(page).inputValue()).toBe('Mia Member');
    await page.goBack();
    await marked.getByText('second@demo.example').waitFor();
    await expect.poll(() => field(page).inputValue()).toBe('Sam Same');
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('the field keeps each letter that is typed quickly', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    for (const delay of [0, 60, 255]) {
      await visit.open('/people');
      await expect.poll(() => people(page).count()).toBe(7);
      await field(page).focus();
      await page.keyboard.type(LONG, { delay });
      expect(await field(page).inputValue(), `every ${delay} ms`).toBe(LONG);
      await page.waitForURL((url) => url.searchParams.get('keyword') === LONG);
      await page.getByText('Nobody matches').waitFor();
      expect(await field(page).inputValue(), `every ${delay} ms`).toBe(LONG);
    }
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('the field keeps the letters that are typed while the URL changes', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await page.addInitScript({ content: typeAtUrlChanges(LONG.slice(1)) });
    await visit.open('/people');
    await expect.poll(() => people(page).count()).toBe(7);
    await field(page).press(LONG.charAt(0));
    await expect.poll(() => field(page).inputValue()).toBe(LONG);
    await page.waitForURL((url) => url.searchParams.get('keyword') === LONG);
    await page.getByText('Nobody matches').waitFor();
    expect(await field(page).inputValue()).toBe(LONG);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('Back and Forward restore text and list while the field has the focus', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    const expectSearch = async (text: string, names: readonly string[]) => {
      await expectNames(page, names);
      await expect.poll(() => field(page).inputValue()).toBe(text);
      await expect.poll(() => page.locator(':focus').getAttribute('aria-label')).toBe('Search people');
    };
    await visit.open('/people');
    await expect.poll(() => people(page).count()).toBe(7);
    await field(page).focus();
    // One entry in the history per search, not per pause.
    await page.keyboard.type('m');
    await page.waitForURL(/keyword=m$/);
    await page.keyboard.type('ia');
    await page.waitForURL(/keyword=mia$/);
    await page.keyboard.press('Enter');
    await field(page).press('Control+a');
    await page.keyboard.type('rui');
    await expectSearch('rui', ['Rui Reviewer']);
    await page.goBack();
    await expectSearch('mia', ['Mia Member']);
    await page.goBack();
    await expectSearch('', [...DEMO, 'Sam Same', 'Sam Same']);
    await page.goForward();
    await expectSearch('mia', ['Mia Member']);
    await page.keyboard.press('End');
    await page.keyboard.type(' member');
    await expectSearch('mia member', ['Mia Member']);
    await page.waitForURL(/member$/);
    await page.goBack();
    await expectSearch('mia', ['Mia Member']);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('without workspace-members:read only members of own projects are found, without their scope nobody', async () => {
    const scopes = SCOPES.filter((scope) => scope !== 'workspace-members:read');
    await using visit = await fixture().visit({ key: await fixture().keyOf(REVIEWER, scopes) });
    const { page } = visit;
    await visit.open('/people');
    await page.getByRole('heading', { name: 'Search for a member of your projects' }).waitFor();
    await visit.expectAccessible('people of a key that cannot list them');
    await field(page).fill('demo.example');
    await expect.poll(async () => (await people(page).locator('[class*=name]').allInnerTexts()).sort()).toEqual(DEMO);
    await people(page).getByText('mia@demo.example').waitFor();
    await field(page).fill('Sam');
    await page.getByText('Nobody matches').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search everything' }).fill('Mia Mem');
    await page.getByRole('option', { name: /Mia Member/ }).click();
    await expectNames(page, ['Mia Member']);
    await visit.expectAccessible('a found person');
    expect(visit.takeRequests()).not.toContain('GET /api/workspace/members');

    const fewer = scopes.filter((scope) => scope !== 'project-members:read');
    await using other = await fixture().visit({ key: await fixture().keyOf(OWNER, fewer) });
    await other.open('/people?keyword=Mia');
    await other.page.getByRole('note').getByText('workspace-members:read').waitFor();
    expect(await field(other.page).count()).toBe(0);
    await other.settled();
    expect(other.takeRequests()).not.toContain('QUERY /api/search');
    expect([...visit.takeConsoleErrors(), ...other.takeConsoleErrors()]).toEqual([]);
  });
});
