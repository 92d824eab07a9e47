import { workflowIdOf } from '@review/contract';
import { expect, test } from 'vitest';
import { generateByHand, inConsole, OWNER, REVIEWER } from './console-fixture.ts';

const TEMPORAL_UI_URL = 'http://temporal.example:8233';
const MANY = 6000;
const SETTINGS = {
  TEMPORAL_UI_URL,
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

    test.each([
      ['[fail]', 'The sandbox failed, as the marker [fail] asks.', 'PROVIDER_REJECTED', 'Await job'],
      ['[moderated]', 'refused the prompt', 'MODERATED', 'Submit'],
    ])('a run with %s shows the error, the failed step and the advice', async (sentinel, message, code, step) => {
      await using visit = await fixture().visit();
      const { page } = visit;
      await visit.open('/generate');
      const id = await generateByHand(page, 'Image', 'GPT Image 2', `A lamp ${sentinel}`);
      await page.getByText('Failed', { exact: true }).first().waitFor();
      const note = page.getByRole('note').first();
      await note.getByText(message).first().waitFor();
      await note.getByText(code, { exact: true }).waitFor();
      await page.getByText('Timeline').click();
      await page
        .getByRole('list', { name: 'Steps' })
        .getByRole('listitem')
        .filter({ hasText: step })
        .getByText(/^failed ·/)
        .waitFor();
      await page.getByRole('button', { name: 'Make another like it' }).click();
      await page.waitForURL(/\/generate/);
      await expect.poll(() => page.getByRole('textbox', { name: 'Prompt' }).inputValue()).toBe(`A lamp ${sentinel}`);
      await visit.open(`/runs?status=FAILED`);
      await page.locator(`a[href="/runs/${id}"]`).waitFor();
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('an uploaded file becomes an attachment that the prompt refers to', async () => {
      await using visit = await fixture().visit();
      const { page } = visit;
      await visit.open('/generate?type=IMAGE');
      const choosing = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: 'From this machine' }).click();
      const lamp = { name: 'lamp.txt', mimeType: 'text/plain', buffer: Buffer.from('A brass lamp') };
      await (await choosing).setFiles(lamp);
      await page.getByRole('textbox', { name: 'Prompt' }).fill('As in ');
      await page.getByRole('button', { name: 'Name in prompt: lamp.txt' }).click();
      const prompt = await page.getByRole('textbox', { name: 'Prompt' }).inputValue();
      expect(prompt).toMatch(/^As in <#GA[0-9A-Z]{20}>$/);
      await page.getByRole('tab', { name: 'Code' }).click();
      await page.getByLabel('The request as code').getByText(`"prompt": "${prompt}"`).waitFor();
      for (const [form, words] of [
        ['Typed client', 'review.generation.generate({'],
        ['MCP', '"name": "generate_file"'],
      ] as const) {
        await page.getByText(form, { exact: true }).click();
        await page.getByLabel('The request as code').getByText(words).waitFor();
      }
      await page.getByRole('button', { name: 'Remove lamp.txt' }).click();
      await page.getByText('which is not in attachments').waitFor();
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('files dropped or pasted on the form become attachments', async () => {
      await using visit = await fixture().visit();
      const { page } = visit;
      await visit.open('/generate');
      await page.getByRole('textbox', { name: 'Prompt' }).waitFor();
      const give = (event: string, field: string, name: string) => `(() => {
      const carried = new DataTransfer();
      carried.items.add(new File(['A lamp'], '${name}', { type: 'text/plain' }));
      document.querySelector('form textarea').dispatchEvent(
        new ${event}('${event === 'DragEvent' ? 'drop' : 'paste'}', { ${field}: carried, bubbles: true, cancelable: true }),
      );
    })()`;
      await page.evaluate(give('DragEvent', 'dataTransfer', 'dropped.txt'));
      await page.evaluate(give('ClipboardEvent', 'clipboardData', 'pasted.txt'));
      await page.getByRole('button', { name: 'Remove dropped.txt' }).waitFor();
      await page.getByRole('button', { name: 'Remove pasted.txt' }).waitFor();
      await expect.poll(() => page.getByRole('button', { name: /^Remove / }).count()).toBe(2);
      await page.waitForURL(/attachments=.*GA.*GA/);
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

    test('the list of runs updates itself', async () => {
      await using visit = await fixture().visit();
      const { page } = visit;
      await visit.open(`/runs?project=${fixture().service.projectId}`);
      await page.getByRole('heading', { name: 'Runs' }).waitFor();
      const id = await fixture().service.generate('gpt-image-2', 'A lamp [stall]');
      await page.reload();
      const row = page.getByRole('listitem').filter({ has: page.locator(`a[href="/runs/${id}"]`) });
      await row.getByText('Running', { exact: true }).waitFor();
      await fixture().service.client.files.cancel({ params: { id } });
      await row.getByText('Canceled', { exact: true }).waitFor();
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

    test('a run under Temporal links to its workflow', async () => {
      const { service } = fixture();
      const id = await service.generate('markdown');
      await service.waitForEnd(id);
      await using visit = await fixture().visit();
      const { page } = visit;
      const link = page.getByRole('link', { name: 'Open in Temporal' });
      await visit.open(`/runs/${id}`);
      await page.getByText('built in').waitFor();
      await expect.poll(() => link.count()).toBe(0);
      // The server builds the link from the engine in the row and its settings, so no Temporal server is needed.
      await service.database.db
        .updateTable('generations')
        .set({ engine: 'temporal' })
        .where('file_id', '=', id)
        .execute();
      await page.reload();
      expect(await link.getAttribute('href')).toBe(
        `${TEMPORAL_UI_URL}/workflows/${encodeURIComponent(workflowIdOf(id))}`,
      );
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
