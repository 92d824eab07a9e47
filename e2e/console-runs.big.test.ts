import { workflowIdOf } from '@review/contract';
import { expect, test } from 'vitest';
import { generateByHand, inConsole, REVIEWER } from './console-fixture.ts';

const JOB_MS = 3000;
const TEMPORAL_UI_URL = 'http://temporal.example:8233';

inConsole(
  'a run in the console',
  (fixture) => {
    test('shows the running step and its progress, then the result, and the time of each step', async () => {
      const { service } = fixture();
      const slow = await service.generate('gpt-image-2', 'A lamp [slow]');
      const id = await service.generate('gpt-image-2', 'A lamp on a pier');
      await using visit = await fixture().visit();
      const { page } = visit;
      await visit.open(`/runs/${slow}`);
      const progress = page.getByRole('group', { name: 'Progress of the run' });
      await progress.getByRole('status').getByText('Await job').waitFor();
      await progress.getByText(/^since/).waitFor();
      await visit.expectAccessible('a run under way');
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('note').getByText('This run was canceled').waitFor();

      await service.waitForEnd(id);
      await visit.open(`/runs/${id}`);
      await page.getByRole('link', { name: 'Open the result: A lamp on a pier' }).waitFor();
      await expect.poll(() => progress.count()).toBe(0);
      const steps = page.getByRole('list', { name: 'Steps' });
      await expect.poll(() => steps.isVisible()).toBe(false);
      await page.getByText('Timeline').click();
      const awaited = steps.getByRole('listitem').filter({ hasText: 'Await job' });
      const [, seconds] = /done · ([\d.]+) s/.exec((await awaited.textContent()) ?? '') ?? [];
      // The poll that found the result took a few milliseconds.
      expect(Number(seconds) * 1000).toBeGreaterThan(JOB_MS / 2);
      await visit.expectAccessible('a run with its result');
      await page.getByRole('link', { name: 'Open the result' }).click();
      await page.waitForURL(new RegExp(`/files/${id}`));
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('that failed or was canceled says what to do, and is retried with one click', async () => {
      const { service } = fixture();
      const failed = await service.generate('gpt-image-2', 'A lamp [fail]');
      await service.waitForEnd(failed);
      await using visit = await fixture().visit();
      const { page } = visit;
      await visit.open(`/runs/${failed}`);
      await page.getByRole('note').getByText('The provider did not make it. Try again').waitFor();
      await visit.expectAccessible('a failed run');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.waitForURL((url) => /\/runs\/FX/.test(url.pathname) && !url.pathname.endsWith(failed));
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('note').getByText('This run was canceled, and made no file.').waitFor();
      await visit.expectAccessible('a canceled run');
      const retried = await service.file(page.url().slice(-22));
      expect(retried.generation).toMatchObject({ prompt: 'A lamp [fail]', outputModel: 'gpt-image-2' });
      await page.getByRole('button', { name: 'Make another like it' }).click();
      await page.waitForURL(/\/generate/);
      await expect.poll(() => page.getByRole('textbox', { name: 'Prompt' }).inputValue()).toBe('A lamp [fail]');
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('shows reviewers the result, without parts that they may not see', async () => {
      const { service } = fixture();
      const id = await service.generate('gpt-image-2', 'A lamp');
      await service.waitForEnd(id);
      await using visit = await fixture().visit({ key: await fixture().keyOf(REVIEWER), phone: true, dark: true });
      const { page } = visit;
      await visit.open(`/runs/${id}`);
      await page.getByRole('link', { name: 'Open the result: A lamp' }).waitFor();
      await visit.settled();
      await expect.poll(() => page.getByRole('note').count()).toBe(0);
      await expect.poll(() => page.getByText('Timeline').count()).toBe(0);
      await visit.expectAccessible('a run for a reviewer');
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test.each([
      ['[fail]', 'The sandbox failed, as the marker [fail] asks.', 'PROVIDER_REJECTED', 'Await job'],
      ['[moderated]', 'refused the prompt', 'MODERATED', 'Submit'],
    ])('with %s shows the error, the failed step and the advice', async (sentinel, message, code, step) => {
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

    test('the list updates itself', async () => {
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

    test('under Temporal links to its workflow', async () => {
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
  },
  { SANDBOX_MILLISECONDS: String(JOB_MS), TEMPORAL_UI_URL },
);
