import { expect, test } from 'vitest';
import { generateByHand, inConsole, OWNER, REVIEWER } from './console-fixture.ts';

const MANY = 6000;
const SETTINGS = {
  RATE_LIMITS: ['default', 'tier-2', 'tier-3', 'tier-4'].map((tier) => `${tier}=${MANY}`).join(','),
};

inConsole(
  'the console',
  (fixture) => {
    test('an invalid key shows the error and request id; a valid one returns to the requested page', async () => {
      await using visit = await fixture().visit({ key: null });
      const { page } = visit;
      await visit.open('/health');
      await page.getByLabel('API key').fill('prs_k_wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').getByText('The credential is not valid').waitFor();
      await page.getByRole('button', { name: /^Request [\w-]{8,}/ }).waitFor();
      await visit.expectAccessible('a sign-in that is refused');
      expect(visit.takeConsoleErrors(/401/)).toEqual([]);

      await page.getByLabel('API key').fill(fixture().service.key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Health' }).waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'Health' }).waitFor();
      expect(await page.evaluate("[localStorage.getItem('api-key'), document.cookie]")).toEqual([null, '']);

      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('API key').waitFor();
      expect(await page.evaluate("sessionStorage.getItem('api-key')")).toBeNull();

      await page.evaluate("sessionStorage.setItem('api-key', 'prs_k_revoked')");
      await visit.open('/runs');
      await page.getByText('is no longer valid. Sign in again.').waitFor();
      expect(visit.takeConsoleErrors(/401/)).toEqual([]);
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('a running generation can be canceled and is shown as canceled after a reload', async () => {
      await using visit = await fixture().visit();
      const { page } = visit;
      await visit.open('/generate');
      await generateByHand(page, 'Image', 'GPT Image 2', 'A lamp [stall]');
      await page.getByText('Running', { exact: true }).waitFor();
      await page.getByRole('progressbar', { name: 'Progress' }).waitFor({ state: 'attached' });
      await page.reload();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('Canceled', { exact: true }).first().waitFor();
      await page.reload();
      await page.getByText('Canceled', { exact: true }).first().waitFor();
      await expect.poll(() => page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('every page is reachable by keyboard', async () => {
      await using visit = await fixture().visit();
      const { page } = visit;
      await visit.open('/health');
      await page.getByRole('heading', { name: 'Health' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search everything' }).waitFor();
      await visit.expectAccessible('the command palette');
      await page.keyboard.type('prompt');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Generate' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('colours dark');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.evaluate('document.documentElement.dataset.mantineColorScheme')).toBe('dark');
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('a missing scope is explained without sending the request', async () => {
      const reading = await fixture().keyOf(OWNER, ['projects:read', 'files:read']);
      await using visit = await fixture().visit({ key: reading });
      const { page } = visit;
      await visit.open('/generate');
      await page.getByRole('note').getByText('This key lacks the scope ai:generate.').waitFor();
      await visit.open('/health');
      await page.getByText('2 of 19').waitFor();
      await expect.poll(() => page.getByRole('alert').count()).toBe(0);
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('an action that the role forbids is a disabled button with the reason', async () => {
      await using visit = await fixture().visit({ key: await fixture().keyOf(REVIEWER) });
      const { page } = visit;
      await visit.open('/generate?prompt=A%20lamp');
      const button = page.getByRole('main').getByRole('button', { name: 'Generate', exact: true });
      await button.waitFor();
      await expect.poll(() => button.getAttribute('aria-disabled')).toBe('true');
      await button.click({ force: true });
      await page
        .getByText('Only owners, managers and members of the project can do this; you are its reviewer.')
        .waitFor();
      expect(page.url()).toContain('/generate');
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('the health page shows the usage of each rate limit', async () => {
      await using visit = await fixture().visit({ key: await fixture().keyOf(OWNER) });
      const { page } = visit;
      const used = async () => {
        const row = page.getByRole('row').filter({ hasText: 'GET /api/ping' });
        const [, count, limit] = /(\d+) of (\d+)/.exec((await row.textContent()) ?? '') ?? [];
        return { count: Number(count), limit: Number(limit) };
      };
      await visit.open('/health');
      const first = await used();
      expect(first).toEqual({ count: expect.any(Number), limit: MANY });
      expect(first.count).toBeGreaterThan(0);
      await page.reload();
      await expect.poll(async () => (await used()).count).toBeGreaterThan(first.count);
      await page.getByRole('progressbar', { name: 'Used of GET /api/ping' }).waitFor({ state: 'attached' });
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('a comment, its reaction, reply and resolution arrive in another window', async () => {
      const projectId = await fixture().newProject('Talk');
      await using writer = await fixture().visit({ key: await fixture().keyOf(OWNER) });
      await using reader = await fixture().visit();
      await Promise.all([writer, reader].map((visit) => visit.openLive(`/projects/${projectId}/comments`)));
      const written = writer.page.getByRole('article').first();
      const read = reader.page.getByRole('article').first();

      await writer.page.getByLabel('Comment', { exact: true }).fill('Louder here.');
      await writer.page.getByRole('button', { name: 'Comment', exact: true }).click();
      await read.getByText('Louder here.').waitFor();
      await written.getByRole('button', { name: 'React' }).click();
      await writer.page.getByRole('button', { name: '🎉' }).click();
      await read.getByRole('button', { name: '🎉 1' }).waitFor();
      await written.getByRole('button', { name: 'Reply', exact: true }).click();
      const replies = writer.page.getByRole('group', { name: 'Replies' });
      await replies.getByLabel('Reply', { exact: true }).fill('Done.');
      await replies.getByRole('button', { name: 'Reply', exact: true }).click();
      await read.getByRole('button', { name: '1 reply' }).waitFor();
      await written.getByRole('button', { name: 'Resolve' }).click();
      await read.getByText('resolved', { exact: true }).waitFor();
      expect([...writer.takeConsoleErrors(), ...reader.takeConsoleErrors()]).toEqual([]);
    });
  },
  SETTINGS,
);
