import { SCOPES } from '@review/contract';
import { expect, test } from 'vitest';
import { inConsole, OWNER, REVIEWER } from './console-fixture.ts';

/** What the browser logs about requests that fail, and React about the pages that need them. */
const FAILED_REQUEST = /ERR_|Failed to (load|fetch)|PartNotLoaded/;

inConsole('the session in the console', (fixture) => {
  test('all tabs share the session: sign-in, changes and sign-out reach each of them', async () => {
    const { service } = fixture();
    const projectId = await fixture().newProject('Two tabs');
    await using visit = await fixture().visit({ key: null });
    const { page } = visit;
    const signIn = async () => {
      await page.getByLabel('API key').fill(service.key);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await visit.open(`/projects/${projectId}/settings`);
    const other = await page.context().newPage();
    await other.goto(`${service.url}/projects?sort=createdAt`);
    await other.getByLabel('API key').waitFor();
    await signIn();
    await page.getByRole('heading', { name: 'Two tabs' }).waitFor();
    await other.getByRole('link', { name: 'Two tabs' }).waitFor();
    expect(other.url()).toContain('/projects?sort=createdAt');

    const third = await page.context().newPage();
    await third.goto(`${service.url}/projects/${projectId}/members`);
    await third.getByText('Olive Owner').first().waitFor();
    expect(await third.evaluate("[localStorage.getItem('api-key'), document.cookie]")).toEqual([null, '']);

    await page.getByLabel('Name').fill('Three tabs');
    await page.getByRole('button', { name: 'Save' }).click();
    await other.getByRole('link', { name: 'Three tabs' }).waitFor();
    await third.getByRole('heading', { name: 'Three tabs' }).waitFor();

    await third.getByRole('button', { name: 'Sign out' }).click();
    for (const tab of [page, other]) {
      await tab.getByLabel('API key').waitFor();
      expect(await tab.evaluate('sessionStorage.length')).toBe(0);
    }
    await signIn();
    await page.getByRole('heading', { name: 'Three tabs' }).waitFor();
    await other.getByRole('link', { name: 'Three tabs' }).waitFor();
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('a key that is revoked while its user writes asks for another, and nothing typed is lost', async () => {
    const { client } = fixture().service;
    const projectId = await fixture().newProject('Revoked');
    const key = await fixture().keyOf(OWNER);
    await using visit = await fixture().visit({ key });
    const { page } = visit;
    await visit.openLive(`/projects/${projectId}/comments`);
    const box = page.getByLabel('Comment', { exact: true });
    await box.fill('The light is right.');
    await fixture().revoke(key);
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.waitFor();
    await visit.expectAccessible('the dialog that asks for another key');
    await again.getByLabel('API key').fill('prs_k_wrong');
    await again.getByRole('button', { name: 'Sign in' }).click();
    await again.getByRole('alert').waitFor();
    await visit.expectAccessible('a key that is refused');
    await again.getByLabel('API key').fill(await fixture().keyOf(OWNER, SCOPES));
    await again.getByRole('button', { name: 'Sign in' }).click();
    await again.waitFor({ state: 'detached' });
    await expect.poll(() => box.inputValue()).toBe('The light is right.');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page
      .getByRole('article', { name: /^Comment by / })
      .getByText('The light is right.')
      .waitFor();
    await client.comments.create({ params: { id: projectId }, body: { content: 'Live again.' } });
    await page.getByText('Live again.').waitFor();
    expect(visit.takeConsoleErrors(/401/)).toEqual([]);
  });

  test('another person who signs in on the page of the first can edit their own comments', async () => {
    const { service } = fixture();
    const params = { id: service.projectId };
    const [key, keyOfOther] = [await fixture().keyOf(OWNER), await fixture().keyOf(REVIEWER)];
    await service.clientAt(service.url, { token: keyOfOther }).comments.create({ params, body: { content: 'Mine.' } });
    await using visit = await fixture().visit({ key });
    const { page } = visit;
    await visit.openLive(`/projects/${service.projectId}/comments`);
    await page.getByLabel('Comment', { exact: true }).fill('Of the first.');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    const actionsFor = (words: string) =>
      page.getByRole('article').filter({ hasText: words }).getByRole('button', { name: 'Actions for this comment' });
    const edit = page.getByRole('menuitem', { name: 'Edit' });
    await actionsFor('Mine.').click();
    await edit.getByText('Only its author can edit a comment.').waitFor();
    await page.keyboard.press('Escape');
    await fixture().revoke(key);
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.getByLabel('API key').fill(keyOfOther);
    await again.getByRole('button', { name: 'Sign in' }).click();
    await again.waitFor({ state: 'detached' });
    await actionsFor('Mine.').click();
    await edit.click();
    await page.getByLabel('Edit the comment').waitFor();
    expect(visit.takeConsoleErrors(/401/)).toEqual([]);
  });

  test('a page that is opened while the service is away recovers by itself, and says so once', async () => {
    const { projectId } = fixture().service;
    await using visit = await fixture().visit();
    const { page } = visit;
    const isApi = ({ pathname }: URL) => pathname.startsWith('/api/');
    const banner = page.getByRole('status').getByText('Connection lost, reconnecting…');
    await page.route(isApi, (route) => route.abort());
    await visit.open(`/runs?project=${projectId}`);
    await banner.waitFor();
    await page.getByText(/^in \d+ s$/).waitFor();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await visit.expectAccessible('a page without the service');
    await page.unroute(isApi);
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await banner.waitFor({ state: 'detached' });

    await visit.settled();
    await page.route(isApi, (route) => route.abort());
    await page.getByRole('link', { name: 'Projects' }).click();
    await page.getByText('Waiting for the service.').waitFor();
    await visit.expectAccessible('a page that waits for the service');
    await banner.waitFor();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await page.unroute(isApi);
    await page.getByRole('button', { name: 'Try now' }).click();
    await page.getByRole('link', { name: 'Spring campaign' }).waitFor();
    await banner.waitFor({ state: 'detached' });
    expect(visit.takeConsoleErrors(FAILED_REQUEST)).toEqual([]);
  });

  test('a rate limit is said once, with a countdown, and the page goes on by itself', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    let refusals = 0;
    await page.route('**/api/projects', (route) =>
      refusals++ === 0 ? route.fulfill({ status: 429, headers: { 'retry-after': '3' } }) : route.continue(),
    );
    await visit.open('/projects');
    await page.getByRole('status').getByText('Too many requests').waitFor();
    await visit.expectAccessible('a page with too many requests');
    await page.getByText(/^in \d+ s$/).waitFor();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await page.getByRole('link', { name: 'Spring campaign' }).waitFor();
    await page.getByText('Too many requests').waitFor({ state: 'detached' });
    expect(visit.takeConsoleErrors(/429/)).toEqual([]);
  });

  test('a page whose code is gone after an upgrade is loaded anew', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open('/health');
    await page.getByRole('heading', { name: 'Health' }).waitFor();
    let isMissing = true;
    await page.route('**/assets/generate-page-*.js', (route) =>
      isMissing ? route.fulfill({ status: 404 }) : route.continue(),
    );
    const reloaded = page.waitForEvent('load');
    await page.getByRole('link', { name: 'Generate' }).click();
    await reloaded;
    // Loaded anew, it is still missing, and the page stays.
    await page.getByRole('heading', { name: 'This page is not available' }).waitFor();
    await visit.expectAccessible('a page that is not available');
    isMissing = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('textbox', { name: 'Prompt' }).waitFor();
    expect(visit.takeConsoleErrors(FAILED_REQUEST)).toEqual([]);
  });

  test('a page that is reloaded while the server is down shows the console, which recovers by itself', async () => {
    const { service } = fixture();
    await using visit = await fixture().visit({ keepsCode: true });
    const { page } = visit;
    await visit.open('/projects');
    await page.getByRole('link', { name: 'Spring campaign' }).waitFor();
    const kept = "caches.open('console').then(async (cache) => (await cache.keys()).map(({ url }) => url))";
    const hasPage = async () => (await page.evaluate<string[]>(kept)).some((url) => url.includes('/list-page-'));
    await expect.poll(hasPage).toBe(true);
    await service.server?.end();
    await page.reload();
    await page.getByRole('status').getByText('Connection lost, reconnecting…').waitFor();
    await service.startServer();
    await page.getByRole('link', { name: 'Spring campaign' }).waitFor();
    expect(visit.takeConsoleErrors(FAILED_REQUEST)).toEqual([]);
  });
});
