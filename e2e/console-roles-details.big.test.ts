import { readFile } from 'node:fs/promises';
import { upload } from '@review/client';
import { contract, LEADS, PROJECT_ROLES } from '@review/contract';
import { beforeAll, expect, test } from 'vitest';
import { inConsole } from './console-fixture.ts';
import { allows, drag, emailOf, expectOffered, NAMES, refusalOf } from './desk-roles.ts';
import { until } from './processes.ts';
import type { BrowserOptions } from './visit.ts';

// The other two looks are those of console-roles.big.test.ts.
const LOOKS: [look: string, options: BrowserOptions][] = [
  ['dark and wide', { dark: true }],
  ['light, on a phone', { phone: true }],
];
const everyone = PROJECT_ROLES.flatMap((role) => LOOKS.map(([look, options]) => [role, look, options] as const));

const REMARK = 'The lamp flickers';
const EXPORTS = [
  ['Table (CSV)', 'csv', REMARK],
  ['Document with pictures (PDF)', 'pdf', '%PDF-'],
  ['Markers for Avid and Resolve (EDL)', 'edl', REMARK],
  ['Markers for Premiere (XML)', 'xml', REMARK],
  ['Markers for Final Cut Pro (FCPXML)', 'fcpxml', REMARK],
] as const;

inConsole('the details of the desk as each role', (fixture) => {
  const ids = { film: '', image: '', other: '', document: '' };
  beforeAll(async () => {
    const { service } = fixture();
    const configs = { resolution: '480p', durationSeconds: 4, aspectRatio: '16:9' };
    ids.film = await service.generate('seedance-2.0', 'A slow pan over a foggy harbour', { configs });
    ids.image = await service.generate('gpt-image-2', 'A red lamp');
    ids.other = await service.generate('gpt-image-2', 'A blue lamp');
    ids.document = await service.generate('pdf', 'A treatment.\n'.repeat(120));
    await Promise.all(Object.values(ids).map((id) => service.waitForEnd(id)));
    // Exports for editing programs need it.
    await until('the frame rate is read', async () => (await service.file(ids.film)).media?.frameRate, 60_000);
    for (const id of Object.values(ids)) {
      await service.client.files.update({ params: { id }, body: { allowRestricted: true } });
    }
    await service.client.comments.createOnFile({ params: { id: ids.film }, body: { content: REMARK, anchor: 1000 } });
  }, 120_000);

  test.each(everyone)(
    '%s, %s: sorts files, sets their status, moves, deletes and restores them',
    async (role, look, options) => {
      const { client, projectId } = fixture().service;
      const why = refusalOf(role);
      const word = `${NAMES[role]} ${look}`;
      const files: Record<'beta' | 'alpha' | 'gamma', string> = { beta: '', alpha: '', gamma: '' };
      const nameOf = (file: keyof typeof files) => `${file} of ${word}.txt`;
      for (const file of ['beta', 'alpha', 'gamma'] as const) {
        const name = nameOf(file);
        files[file] = (await upload(client, { to: { project: projectId }, source: Buffer.from(name), name })).id;
        await client.files.update({ params: { id: files[file] }, body: { allowRestricted: true } });
      }
      const selects = `Selects of ${word}`;
      const { data: folder } = await client.folders.create({ params: { id: projectId }, body: { name: selects } });
      const stored = async (file: keyof typeof files) => (await client.files.get({ params: { id: files[file] } })).data;
      const listed = async () => {
        const { data } = await client.files.list({ params: { id: projectId }, body: { keyword: word } });
        return data.map(({ name }) => name).toSorted();
      };

      await using visit = await fixture().visit({ ...options, key: await fixture().keyOf(emailOf(role)) });
      const { page } = visit;
      await visit.openLive(`/projects/${projectId}?keyword=${encodeURIComponent(word)}`);
      const names = (list: string) =>
        page
          .getByRole('list', { name: list })
          .getByRole('link', { name: '.txt' })
          .evaluateAll((links) => links.map((link) => link.getAttribute('aria-label')));
      await expect
        .poll(() => names('Folders and files'))
        .toEqual(['gamma', 'alpha', 'beta'].map((file) => `${file} of ${word}.txt`));
      await page.getByLabel('Order').selectOption('By name');
      const sorted = ['alpha', 'beta', 'gamma'].map((file) => `${file} of ${word}.txt`);
      await expect.poll(() => names('Folders and files')).toEqual(sorted);
      await page.getByText('Grid', { exact: true }).click();
      await expect.poll(() => names('Files')).toEqual(sorted);
      await visit.settled();
      await visit.expectAccessible('the grid');
      await page.getByText('List', { exact: true }).click();
      await expect.poll(() => names('Folders and files')).toEqual(sorted);

      // One file.
      const mayTag = allows(contract.files.setTag, role);
      await page.getByRole('button', { name: `Review status of ${nameOf('alpha')}: Needs review. Change` }).click();
      const approved = page.getByRole('menuitem', { name: 'Approved' });
      await expectOffered(approved, mayTag, why);
      await visit.expectAccessible('the review statuses');
      if (mayTag) {
        await approved.click();
        await page.getByRole('button', { name: `Review status of ${nameOf('alpha')}: Approved. Change` }).waitFor();
      } else await page.keyboard.press('Escape');
      expect((await stored('alpha')).tag).toBe(mayTag ? 'APPROVED' : 'NEED_REVIEW');

      const mayMove = allows(contract.files.update, role);
      const mayDelete = allows(contract.files.delete, role);
      const actions = page.getByRole('button', { name: `Actions for ${nameOf('alpha')}` });
      await actions.click();
      const move = page.getByRole('menuitem', { name: 'Move' });
      await expectOffered(page.getByRole('menuitem', { name: 'Delete' }), mayDelete, why);
      await expectOffered(move, mayMove, why);
      if (mayMove) {
        await move.click();
        await page.getByRole('radio', { name: selects }).check();
        await page.getByRole('button', { name: 'Move here' }).click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      } else await page.keyboard.press('Escape');
      await expect.poll(async () => (await stored('alpha')).folder?.id).toBe(mayMove ? folder.id : undefined);
      if (mayDelete) {
        await actions.click();
        await page.getByRole('menuitem', { name: 'Delete' }).click();
        await page.getByRole('button', { name: 'Delete file' }).click();
        await page.getByRole('link', { name: nameOf('alpha') }).waitFor({ state: 'detached' });
      }

      // Several files.
      for (const file of ['beta', 'gamma'] as const) {
        await page.getByRole('checkbox', { name: `Choose ${nameOf(file)}` }).click();
      }
      await page.getByRole('button', { name: 'Review status', exact: true }).click();
      const edit = page.getByRole('menuitem', { name: 'Needs edit' });
      await expectOffered(edit, mayTag, why);
      if (mayTag) await edit.click();
      else await page.keyboard.press('Escape');
      const tags = async () => [(await stored('beta')).tag, (await stored('gamma')).tag];
      await expect.poll(tags).toEqual(mayTag ? ['NEED_EDIT', 'NEED_EDIT'] : ['NEED_REVIEW', 'NEED_REVIEW']);
      const remove = page.getByRole('button', { name: 'Delete', exact: true });
      await expectOffered(remove, mayDelete, why);
      if (mayDelete) {
        await remove.click();
        await page.getByRole('button', { name: 'Delete 2 files' }).click();
        await page.getByText('No file matches').waitFor();
      }
      expect(await listed()).toEqual(mayDelete ? [] : sorted);

      // The trash.
      const mayRestore = allows(contract.files.trash, role) && allows(contract.files.restore, role);
      expect(await page.getByRole('link', { name: 'Trash' }).count()).toBe(mayRestore ? 1 : 0);
      await visit.open(`/projects/${projectId}/trash`);
      if (mayRestore) {
        const final = page.getByRole('button', { name: `Delete for good: ${nameOf('gamma')}` });
        const isLead = LEADS.some((lead) => lead === role);
        await expectOffered(final, isLead, /^Only owners and managers delete for good\.$/);
        if (isLead) {
          await final.click();
          await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).click();
          await final.waitFor({ state: 'detached' });
        }
        for (const file of ['alpha', 'beta'] as const) {
          await page.getByRole('button', { name: `Restore ${nameOf(file)}` }).click();
          await page.getByRole('button', { name: `Restore ${nameOf(file)}` }).waitFor({ state: 'detached' });
        }
        expect(await listed()).toEqual(sorted.slice(0, 2));
        expect((await stored('alpha')).tag).toBe('APPROVED');
      } else await page.getByRole('note').getByText(why).waitFor();
      await visit.settled();
      await visit.expectAccessible('the trash');
      expect(visit.takeConsoleErrors()).toEqual([]);
    },
  );

  test.each(everyone)(
    '%s, %s: draws on pictures and pages, reacts, replies, resolves, compares and exports',
    { timeout: 240_000 },
    async (role, look, options) => {
      const { client, projectId } = fixture().service;
      const why = refusalOf(role);
      const content = `Warmer here, says ${NAMES[role]}, ${look}`;
      const posted = async (id: string) =>
        (await client.comments.listOnFile({ params: { id }, body: { sort: { direction: 'desc' } } })).data.find(
          (each) => each.content?.startsWith(content),
        );
      await using visit = await fixture().visit({ ...options, key: await fixture().keyOf(emailOf(role)) });
      const { page } = visit;
      const composer = page.getByRole('textbox', { name: 'Comment', exact: true });
      const send = page.getByRole('button', { name: 'Comment', exact: true });

      await visit.openLive(`/files/${ids.image}`);
      await expect.poll(() => page.evaluate("document.querySelector('main img')?.naturalWidth > 0")).toBe(true);
      await page.keyboard.press('d');
      await page.getByRole('button', { name: 'Ellipse' }).click();
      // On a phone the tools are below the picture, and choosing one scrolls.
      await page.locator('main img').scrollIntoViewIfNeeded();
      await drag(page, 'main img', [0.2, 0.2], [0.6, 0.6]);
      await composer.fill(content);
      await send.click();
      const comment = page.getByRole('article', { name: `Comment by ${NAMES[role]}` }).filter({ hasText: content });
      await comment.getByRole('button', { name: 'Drawing', exact: true }).waitFor();
      await expect.poll(() => posted(ids.image)).toMatchObject({ annotation: { shapes: [{ type: 'ELLIPSE' }] } });

      await comment.getByRole('button', { name: 'React' }).click();
      await page.getByRole('button', { name: '🎉', exact: true }).click();
      await comment.getByRole('button', { name: '🎉 1', pressed: true }).waitFor();
      await comment.getByRole('button', { name: 'Reply', exact: true }).click();
      const replies = comment.getByRole('group', { name: 'Replies' });
      await replies.getByLabel('Reply', { exact: true }).fill('Done.');
      await replies.getByRole('button', { name: 'Reply', exact: true }).click();
      await replies
        .getByRole('article', { name: `Comment by ${NAMES[role]}` })
        .getByText('Done.')
        .waitFor();
      const mayResolve = allows(contract.comments.resolve, role);
      const resolve = comment.getByRole('button', { name: 'Resolve', exact: true });
      await expectOffered(resolve, mayResolve, why);
      if (mayResolve) {
        await resolve.click();
        await comment.getByRole('button', { name: 'Open again' }).waitFor();
      }
      await expect
        .poll(() => posted(ids.image))
        .toMatchObject({
          reactions: [{ type: '🎉', count: 1 }],
          replies: { count: 1 },
          resolvedAt: mayResolve ? expect.any(String) : null,
        });
      await visit.settled();
      await visit.expectAccessible('a picture with a comment');

      await visit.open(`/files/${ids.document}`);
      const drawn = () => page.locator('main canvas').getAttribute('data-drawn');
      await expect.poll(drawn).toBe('1');
      await page.keyboard.press('ArrowRight');
      await expect.poll(drawn).toBe('2');
      await page.keyboard.press('d');
      await drag(page, 'main canvas', [0.2, 0.1], [0.6, 0.15]);
      await composer.fill(content);
      await send.click();
      await expect
        .poll(() => posted(ids.document))
        .toMatchObject({ anchor: 2, annotation: { shapes: [{ type: 'PEN' }] } });

      await visit.open(`/compare?left=${ids.image}&right=${ids.other}`);
      const pictures = page.getByRole('main').locator('img:not([alt=""])');
      for (const [mode, style] of [
        ['Overlay', /opacity: 0\.5/],
        ['Difference', /mix-blend-mode: difference/],
      ] as const) {
        await page.getByText(mode, { exact: true }).click();
        await page.waitForURL(new RegExp(`mode=${mode.toLowerCase()}`));
        await expect.poll(() => pictures.nth(1).getAttribute('style')).toMatch(style);
      }

      const { name } = (await client.files.get({ params: { id: ids.film } })).data;
      await visit.open(`/projects/${projectId}?keyword=${encodeURIComponent(name)}`);
      const mayExport = allows(contract.comments.exportOnFile, role);
      for (const [format, extension, words] of EXPORTS) {
        await page.getByRole('button', { name: `Actions for ${name}` }).click();
        const item = page.getByRole('menuitem', { name: format });
        await expectOffered(item, mayExport, why);
        const saved = page.waitForEvent('download');
        await item.click();
        const download = await saved;
        expect(download.suggestedFilename()).toMatch(new RegExp(`\\.${extension}$`));
        expect((await readFile(await download.path())).toString('latin1')).toContain(words);
      }
      expect(visit.takeConsoleErrors()).toEqual([]);
    },
  );
});
