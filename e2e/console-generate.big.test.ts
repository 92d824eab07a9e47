import { expect, test } from 'vitest';
import { inConsole } from './console-fixture.ts';

inConsole('the playground', (fixture) => {
  test('several results of one prompt come beside it, stay after a reload, and become the next attachment', async () => {
    const { service } = fixture();
    const project = await fixture().newProject('Lamps');
    const { data: folder } = await service.client.folders.create({ params: { id: project }, body: { name: 'Drafts' } });
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/generate?project=${project}`);
    await page.getByRole('heading', { name: 'Generate' }).waitFor();
    await page.getByLabel('Folder').selectOption('Drafts');
    const prompt = page.getByRole('textbox', { name: 'Prompt' });
    await prompt.fill('A lamp on a pier');
    await page.getByText('3×', { exact: true }).click();
    await prompt.press('Control+Enter');
    const results = page.getByRole('list', { name: 'Results' }).getByRole('article', { name: 'A lamp on a pier' });
    await expect.poll(() => results.count()).toBe(3);
    await expect.poll(() => results.getByRole('link', { name: /^Open the result/ }).count()).toBe(3);
    await expect.poll(() => prompt.inputValue()).toBe('A lamp on a pier');
    await visit.expectAccessible('the results');
    const { data: files } = await service.client.files.list({ params: { id: project } });
    expect(files.map((file) => file.folder)).toEqual(Array(3).fill({ id: folder.id }));
    await page.reload();
    await expect.poll(() => results.count()).toBe(3);

    await prompt.fill('A lamp [fail]');
    await page.getByText('1×', { exact: true }).click();
    await prompt.press('Control+Enter');
    const failed = page.getByRole('article', { name: 'A lamp [fail]' });
    await failed.first().getByText('The provider did not make it.').waitFor();
    await failed.first().getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => failed.count()).toBe(2);

    await page.getByRole('tab', { name: 'History' }).click();
    const past = page.getByRole('list', { name: 'Earlier prompts' }).getByRole('listitem');
    await expect.poll(() => past.count()).toBe(2);
    await visit.expectAccessible('earlier prompts');
    await past.filter({ hasText: 'A lamp on a pier' }).getByRole('button').click();
    await expect.poll(() => prompt.inputValue()).toBe('A lamp on a pier');

    await page.getByRole('button', { name: 'From the project' }).click();
    const [file] = files;
    const source = page
      .getByRole('tabpanel')
      .getByRole('button', { name: new RegExp(file?.name ?? '') })
      .first();
    await source.waitFor({ timeout: 60_000 });
    await visit.expectAccessible('the files of the project');
    await source.dragTo(prompt);
    await page.getByRole('button', { name: /^Remove / }).waitFor();
    await expect.poll(() => prompt.inputValue()).toBe('A lamp on a pier');
    await page.waitForURL(/attachments=.*FX/);
    await page.getByRole('tab', { name: 'Code' }).click();
    await page.getByLabel('The request as code').getByText('"attachments": [').waitFor();
    await visit.expectAccessible('the request as code');
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
