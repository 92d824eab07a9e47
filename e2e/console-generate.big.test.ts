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

  test('an attachment that is still being sent is canceled by its removal and by another project', async () => {
    const [chairs, lamps] = [await fixture().newProject('Chairs'), await fixture().newProject('Lamps')];
    await using visit = await fixture().visit();
    const { page } = visit;
    await page.route('**/blobs/**', () => {});
    await visit.open(`/generate?project=${lamps}`);
    const sending = page.getByRole('listitem').filter({ hasText: 'lamp.txt' });
    const send = async () => {
      const [choosing, started] = [page.waitForEvent('filechooser'), page.waitForRequest('**/blobs/**')];
      await page.getByRole('button', { name: 'From this machine' }).click();
      await (await choosing).setFiles({ name: 'lamp.txt', mimeType: 'text/plain', buffer: Buffer.from('A lamp') });
      await started;
      await sending.waitFor();
    };
    const canceled = () => page.waitForResponse('**/api/generation-attachments/*/upload.cancel');
    for (const end of [
      () => page.getByRole('button', { name: 'Remove lamp.txt' }).click(),
      () => page.getByLabel('Project').selectOption(chairs),
    ]) {
      await send();
      const [answer] = await Promise.all([canceled(), end()]);
      expect(answer.ok()).toBe(true);
      await sending.waitFor({ state: 'detached' });
    }
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('a project that is newer than the draft does not replace its project', async () => {
    const lamps = await fixture().newProject('Lamps');
    await using visit = await fixture().visit();
    const { page } = visit;
    await page.clock.install();
    await visit.open('/generate');
    const project = page.getByLabel('Project');
    await expect.poll(() => project.inputValue()).toBe(lamps);
    const chairs = await fixture().newProject('Chairs');
    await page.clock.fastForward(60_000);
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
    await project.locator(`option[value="${chairs}"]`).waitFor({ state: 'attached' });
    expect(await project.inputValue()).toBe(lamps);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('a project that was just created is the one to generate in', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open('/runs');
    await page.getByLabel('Project').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Projects' }).click();
    await page.getByRole('button', { name: 'New project' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('Just created');
    await form.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { name: 'Just created', level: 1 }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Generate' }).click();
    await page
      .getByLabel('Project')
      .locator('option:checked', { hasText: 'Just created' })
      .waitFor({ state: 'attached' });
    await page.waitForURL(/project=/);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
