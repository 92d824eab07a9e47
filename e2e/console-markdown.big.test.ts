import { upload } from '@review/client';
import { expect, test } from 'vitest';
import { inConsole } from './console-fixture.ts';

/** 80 kB of unclosed emphasis, which the parser needs minutes for. */
const ENDLESS = '*a_ '.repeat(20_000);
const DEEP = '>'.repeat(3000);
const PLAIN = /shown as plain text/;

inConsole('Markdown in the console', (fixture) => {
  const written = async (text: string) => {
    const { client, projectId } = fixture().service;
    const to = { project: projectId };
    const mimeType = 'text/markdown';
    return (await upload(client, { to, source: new Blob([text]), name: 'notes.md', mimeType })).id;
  };

  test.each([
    ['takes too long', ENDLESS],
    ['is nested too deeply', DEEP],
    ['is too large', 'word '.repeat(120_000)],
  ])('text that %s to render is shown as plain text, and the page stays usable', async (_, text) => {
    const id = await written(text);
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${id}`);
    await page.getByRole('heading', { name: 'Details' }).waitFor();
    expect(await page.evaluate('1 + 1')).toBe(2);
    await page.getByText(PLAIN).waitFor({ timeout: 60_000 });
    expect((await page.locator('article pre').textContent())?.length).toBe(text.length);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('the preview recovers when the text becomes renderable', async () => {
    const body = { name: 'Endless', description: 'A skill that is hard to draw' };
    const { data } = await fixture().service.client.skills.create({ body });
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/skills/${data.id}?write=true`);
    await page.getByLabel('Markdown').fill(ENDLESS);
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText(PLAIN).waitFor({ timeout: 60_000 });
    await page.getByLabel('Markdown').fill('# Short\n\n<b onclick="alert(1)">bold</b> [trap](javascript:alert(1))');
    await preview.getByRole('heading', { name: 'Short' }).waitFor();
    await expect.poll(() => preview.locator('b, [href^="javascript"]').count()).toBe(0);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
