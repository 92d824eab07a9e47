import { SCOPES } from '@review/contract';
import { expect, test } from 'vitest';
import { inConsole, OWNER } from './console-fixture.ts';

const HOSTILE = `# How we review

<script>window.ran = true</script>
<img src="x" onerror="window.ran = true">

[a trap](javascript:window.ran=true) and ![a picture](https://example.com/a.png)

| step | who |
|---|---|
| watch | all |
`;

inConsole('skills in the console', (fixture) => {
  test('a skill can be created, previewed without running scripts, published, edited and exported', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open('/skills');
    await page.getByRole('button', { name: 'New skill' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('Reviewing');
    await form.getByLabel('Description').fill('How we look at a cut.');
    await form.getByLabel('Metadata').fill('no value');
    await form.getByText('as name: value').waitFor();
    await form.getByLabel('Metadata').fill('team: film');
    await form.getByLabel('Allowed tools').fill('get_file\nlist_project_files');
    await visit.expectAccessible('the form for a skill');
    await form.getByRole('button', { name: 'Create skill' }).click();

    await page.waitForURL(/write=true/);
    await page.getByLabel('Markdown').fill(HOSTILE);
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByRole('heading', { name: 'How we review' }).waitFor();
    await preview.getByRole('cell', { name: 'watch' }).waitFor();
    await page.reload();
    await preview.getByText('a trap').waitFor();
    expect(await page.evaluate('window.ran')).toBeUndefined();
    await expect.poll(() => preview.locator('script, img, [href^="javascript"]').count()).toBe(0);
    await visit.expectAccessible('the editor of a skill');
    await page.getByLabel('Note').fill('The first one.');
    await page.getByRole('button', { name: 'Publish version' }).click();
    await page.waitForURL(/version=SV/);
    await page.getByRole('region', { name: 'Content' }).getByRole('heading', { name: 'How we review' }).waitFor();
    await visit.expectAccessible('a skill');

    await page.getByRole('button', { name: 'New version' }).click();
    await page.getByLabel('Markdown').fill('# Shorter');
    await page.getByLabel('Make it the default version').uncheck();
    await page.getByRole('button', { name: 'Publish version' }).click();
    await page.getByRole('region', { name: 'Content' }).getByRole('heading', { name: 'Shorter' }).waitFor();
    const versions = page.getByRole('list', { name: 'Versions of the skill' }).getByRole('listitem');
    await versions.filter({ hasText: 'Version 1' }).getByText('default').waitFor();
    await versions
      .filter({ hasText: 'Version 1' })
      .getByRole('button', { name: /Actions for version/ })
      .click();
    await page.getByRole('menuitem', { name: 'Delete' }).getByText('choose another default first').waitFor();
    await visit.expectAccessible('the actions for a version of a skill');
    await page.keyboard.press('Escape');
    await versions
      .filter({ hasText: 'Version 2' })
      .getByRole('button', { name: /Actions for version/ })
      .click();
    await page.getByRole('menuitem', { name: 'Make it the default' }).click();
    await versions.filter({ hasText: 'Version 2' }).getByText('default', { exact: true }).waitFor();

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export SKILL.md' }).click();
    const exported = await download;
    expect(exported.suggestedFilename()).toBe('SKILL.md');
    const text = Buffer.concat(await (await exported.createReadStream()).toArray()).toString();
    expect(text).toContain('# Shorter');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Reviewing cuts');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Reviewing cuts', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete skill' }).waitFor();
    await visit.expectAccessible('the question before a skill is deleted');
    await page.getByRole('button', { name: 'Delete skill' }).click();
    await page.waitForURL(/\/skills$/);
    expect(await page.evaluate('window.ran')).toBeUndefined();
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('without the scopes skills are hidden or read-only', async () => {
    await using reader = await fixture().visit({ key: await fixture().keyOf(OWNER, ['skills:read']) });
    await reader.open('/skills');
    const make = reader.page.getByRole('button', { name: 'New skill' });
    await expect.poll(() => make.getAttribute('aria-disabled')).toBe('true');
    await make.focus();
    await reader.page.getByRole('tooltip').getByText('This key lacks the scope skills:write').waitFor();

    const others = SCOPES.filter((scope) => scope !== 'skills:read');
    await using stranger = await fixture().visit({
      key: await fixture().keyOf(OWNER, others),
      dark: true,
      phone: true,
    });
    await stranger.open('/skills');
    await stranger.page.getByRole('note').getByText('This key lacks the scope skills:read').waitFor();
    await stranger.expectAccessible('skills that cannot be read');
    expect([...reader.takeConsoleErrors(), ...stranger.takeConsoleErrors()]).toEqual([]);
  });
});
