import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { upload } from '@review/client';
import { expect, test } from 'vitest';
import { inConsole } from './console-fixture.ts';
import type { Visit } from './visit.ts';

/** SCREENSHOTS=<folder> stores screenshots of the pages. */
const folder = process.env['SCREENSHOTS'];
const shoot = async ({ page }: Visit, name: string) => {
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
};

inConsole('the files of a project', (fixture) => {
  const add = async (projectId: string, name: string) => {
    const { client } = fixture().service;
    const source = new TextEncoder().encode(name);
    return (await upload(client, { to: { project: projectId }, source, name })).id;
  };

  test('are chosen with shift, moved together and by dragging, deleted and restored', async () => {
    const { service } = fixture();
    const projectId = await fixture().newProject('Browsing');
    const params = { id: projectId };
    await service.client.folders.create({ params, body: { name: 'Selects' } });
    await service.client.folders.create({ params, body: { name: 'Old' } });
    for (let index = 1; index <= 8; index++) await add(projectId, `take ${index}.txt`);
    const long = `${'A very long name of a file that differs only at its end '.repeat(4)}v12.txt`;
    await add(projectId, long);
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.openLive(`/projects/${projectId}`);
    const box = (name: string) => page.getByRole('checkbox', { name: `Choose ${name}`, exact: true });
    const file = (name: string) => page.getByRole('link', { name, exact: true });
    await file(long).waitFor();

    await box('take 6.txt').click();
    await box('take 3.txt').click({ modifiers: ['Shift'] });
    await page.getByText('4 chosen').waitFor();
    await visit.expectAccessible('chosen files');
    await shoot(visit, 'chosen-files');
    await page.getByRole('button', { name: 'Move', exact: true }).click();
    await page.getByRole('radio', { name: 'Selects' }).check();
    await visit.expectAccessible('the folders to move files to');
    await page.getByRole('button', { name: 'Move here' }).click();
    await file('take 4.txt').waitFor({ state: 'detached' });
    await expect.poll(() => file('take 7.txt').count()).toBe(1);

    await file('take 8.txt').dragTo(page.getByRole('link', { name: 'Old', exact: true }));
    await file('take 8.txt').waitFor({ state: 'detached' });

    await box('take 1.txt').click();
    await page.getByRole('button', { name: 'Choose all' }).click();
    await page.getByText('4 chosen').waitFor();
    await page.getByRole('button', { name: 'Choose none' }).click();
    await box('take 1.txt').click();
    await box('take 2.txt').click();
    await page.getByRole('button', { name: 'Review status', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Approved' }).click();
    await expect.poll(() => page.getByLabel('Review status of take 2.txt: Approved. Change').count()).toBe(1);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete 2 files' }).waitFor();
    await visit.expectAccessible('the question before files are deleted');
    await page.getByRole('button', { name: 'Delete 2 files' }).click();
    await file('take 1.txt').waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Trash' }).click();
    await page.getByRole('button', { name: 'Restore take 1.txt' }).waitFor();
    await visit.expectAccessible('the trash');
    await shoot(visit, 'trash-light');
    await page.getByRole('button', { name: 'Restore take 1.txt' }).click();
    await page.getByRole('button', { name: 'Restore take 1.txt' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete for good: take 2.txt' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).waitFor();
    await visit.expectAccessible('the question before a file is deleted for good');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).click();
    await page.getByText('The trash is empty').waitFor();
    await visit.expectAccessible('the empty trash');
    await page.getByRole('link', { name: 'Back to the files' }).click();
    await file('take 1.txt').waitFor();
    const names = (await service.client.files.list({ params })).data.map(({ name }) => name);
    expect(names).not.toContain('take 2.txt');
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('are sorted by name, and the page of a file follows that order', async () => {
    const projectId = await fixture().newProject('Sorted');
    for (const name of ['Beta.txt', 'alpha.txt', 'gamma.txt']) await add(projectId, name);
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.openLive(`/projects/${projectId}`);
    const names = () =>
      page.getByRole('list', { name: 'Folders and files' }).getByRole('link', { name: '.txt' }).allTextContents();
    await expect.poll(names).toEqual(['gamma.txt', 'alpha.txt', 'Beta.txt']);
    await page.getByLabel('Order').selectOption('Oldest first');
    await expect.poll(names).toEqual(['Beta.txt', 'alpha.txt', 'gamma.txt']);
    await page.getByLabel('Order').selectOption('By name');
    await expect.poll(names).toEqual(['alpha.txt', 'Beta.txt', 'gamma.txt']);
    await visit.expectAccessible('sorted files');
    await page.reload();
    await expect.poll(names).toEqual(['alpha.txt', 'Beta.txt', 'gamma.txt']);
    await page.getByRole('link', { name: 'alpha.txt', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'alpha.txt' }).waitFor();
    await page.getByLabel('Next file').click();
    await page.getByRole('heading', { level: 1, name: 'Beta.txt' }).waitFor();
    await page.getByLabel('Next file').click();
    await page.getByRole('heading', { level: 1, name: 'gamma.txt' }).waitFor();
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('are shown as a grid, on a phone as well, and in the dark', async () => {
    const { service } = fixture();
    const ids = [await service.generate('gpt-image-2', 'A foggy harbour'), await service.generate('pdf', 'A plan')];
    for (const id of ids) await service.waitForEnd(id);
    for (const options of [{}, { dark: true }, { phone: true }]) {
      await using visit = await fixture().visit(options);
      const { page } = visit;
      await visit.openLive(`/projects/${service.projectId}?view=grid`);
      await page.getByRole('list', { name: 'Files' }).getByRole('listitem').first().waitFor();
      await visit.expectAccessible(`the grid ${JSON.stringify(options)}`);
      await shoot(visit, `grid-${Object.keys(options).join('') || 'light'}`);
      await page.getByText('List', { exact: true }).click();
      await page.getByRole('list', { name: 'Folders and files' }).waitFor();
      await shoot(visit, `list-${Object.keys(options).join('') || 'light'}`);
      expect(visit.takeConsoleErrors()).toEqual([]);
    }
  });

  test('are found with Ctrl K by name and comment, and export their comments', async () => {
    const { service } = fixture();
    const projectId = await fixture().newProject('Searching');
    const { client } = service;
    const id = await add(projectId, 'Albatross.txt');
    await client.comments.createOnFile({ params: { id }, body: { content: 'The gannet is too dark', anchor: 0 } });
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open('/runs');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    const find = async (words: string) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search everything' }).fill(words);
    };
    await find('gannet');
    await page.getByRole('option', { name: /The gannet is too dark/ }).waitFor();
    await visit.expectAccessible('search results');
    await shoot(visit, 'palette');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/files/${id}`));
    await find('searching');
    await page.getByRole('option', { name: /Searching/ }).click();
    await page.waitForURL(new RegExp(`/projects/${projectId}`));
    const savedAs = async (format: string) => {
      await page.getByRole('button', { name: 'Actions for Albatross.txt' }).click();
      await page.getByRole('menuitem', { name: format }).waitFor();
      await visit.expectAccessible('the actions for a file');
      const saved = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: format }).click();
      return saved;
    };
    expect((await savedAs('Table (CSV)')).suggestedFilename()).toBe('Albatross.csv');
    const pdf = await savedAs('Document with pictures (PDF)');
    expect(pdf.suggestedFilename()).toBe('Albatross.pdf');
    expect((await readFile(await pdf.path())).toString('latin1')).toMatch(/^%PDF-.*%%EOF\s*$/s);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
