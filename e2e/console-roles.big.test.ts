import { contract, PROJECT_ROLES } from '@review/contract';
import { beforeAll, expect, test } from 'vitest';
import { inConsole } from './console-fixture.ts';
import { allows, drag, emailOf, expectOffered, NAMES, refusalOf } from './desk-roles.ts';
import { until } from './processes.ts';
import type { BrowserOptions } from './visit.ts';

const LOOKS: [look: string, options: BrowserOptions][] = [
  ['light and wide', {}],
  ['dark, on a phone', { dark: true, phone: true }],
];

inConsole('the desk as each role', (fixture) => {
  const ids = { film: '', cut: '', image: '' };
  beforeAll(async () => {
    const { service } = fixture();
    const configs = { resolution: '480p', durationSeconds: 4, aspectRatio: '16:9' };
    ids.film = await service.generate('seedance-2.0', 'A slow pan over a foggy harbour', { configs });
    ids.cut = await service.generate('seedance-2.0', 'The same pan, shorter', { configs });
    ids.image = await service.generate('gpt-image-2', 'A lamp on the pier');
    await Promise.all(Object.values(ids).map((id) => service.waitForEnd(id)));
    // Exports for editing programs need it.
    await until('the frame rate is read', async () => (await service.file(ids.film)).media?.frameRate, 60_000);
    for (const id of Object.values(ids)) {
      await service.client.files.update({ params: { id }, body: { allowRestricted: true } });
    }
  }, 120_000);

  const everyone = PROJECT_ROLES.flatMap((role) => LOOKS.map(([look, options]) => [role, look, options] as const));
  test.each(everyone)(
    '%s, %s: looks, draws, writes, decides, compares, exports, finds, generates, uploads and signs in again',
    { timeout: 240_000 },
    async (role, look, options) => {
      const { client, projectId } = fixture().service;
      const mayEdit = allows(contract.files.startUpload, role);
      const mayDecide = allows(contract.versions.setStatus, role);
      const why = refusalOf(role);
      const version = `For ${NAMES[role]}, ${look}`;
      const { data: created } = await client.versions.create({
        params: { id: projectId },
        body: { name: version, allowRestricted: true, files: [{ id: ids.film }] },
      });
      const key = await fixture().keyOf(emailOf(role));
      await using visit = await fixture().visit({ ...options, key });
      const { page } = visit;

      // The player.
      await visit.open(`/files/${ids.film}`);
      await expect.poll(() => page.evaluate('document.querySelector("video")?.readyState > 2')).toBe(true);
      await visit.settled();
      const plays = page.getByRole('button', { name: 'Pause' }).waitFor();
      await page.keyboard.press('l');
      await plays;
      await page.keyboard.press('k');
      await page.getByRole('button', { name: 'Play' }).waitFor();
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowRight');
      await page.getByText('00:00:00:01 / 00:00:04:00 · frame 1').waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });

      // A drawing with a range, as a draft that survives a reload.
      await page.keyboard.press('i');
      await page.keyboard.press('.');
      await page.getByText('frame 2').waitFor();
      await page.keyboard.press('o');
      await page.keyboard.press('d');
      await page.getByRole('toolbar', { name: 'Drawing' }).getByRole('button', { name: 'Arrow' }).click();
      await drag(page, 'video', [0.25, 0.25], [0.5, 0.5]);
      const content = `Softer here, says ${NAMES[role]}, ${look}`;
      await page.keyboard.press('c');
      await page.keyboard.type(content);
      await page.reload();
      const composer = page.getByRole('textbox', { name: 'Comment' });
      await expect.poll(() => composer.inputValue()).toBe(content);
      await composer.press('Control+Enter');
      const comment = page.getByRole('article', { name: `Comment by ${NAMES[role]}` }).filter({ hasText: content });
      await comment.waitFor();
      const { data: posted } = await client.comments.listOnFile({ params: { id: ids.film } });
      expect(posted.find((each) => each.content === content)).toMatchObject({
        anchor: 63,
        annotation: { shapes: [{ type: 'ARROW' }] },
      });
      await visit.expectAccessible('a film with a comment');

      // Decisions, on the file and at the home of reviewers.
      const status = page.getByRole('button', { name: /^Review status of / });
      await status.click();
      await expectOffered(page.getByRole('menuitem', { name: 'Needs edit' }), mayEdit, why);
      await page.keyboard.press('Escape');
      await visit.open('/review');
      const approve = page.getByRole('button', { name: `Approve ${version}`, exact: true });
      await expectOffered(approve, mayDecide, why);
      if (mayDecide) {
        await approve.click();
        await page.getByRole('status').getByText(`${version}: Approved.`).waitFor();
      }
      const decided = (await client.versions.get({ params: { id: created.id } })).data.status;
      expect(decided).toBe(mayDecide ? 'APPROVED' : 'NEED_REVIEW');

      // Comparing, playing both.
      await visit.open(`/compare?left=${ids.film}&right=${ids.cut}`);
      await page.getByText('Wipe', { exact: true }).click();
      await page.waitForURL(/mode=wipe/);
      await page.getByRole('button', { name: 'Play both' }).click();
      const playing = '[...document.querySelectorAll("video")].filter(({ currentTime }) => currentTime > 0.2).length';
      await expect.poll(() => page.evaluate(playing)).toBe(2);

      // The files: chosen, their comments exported, found by a word of a comment.
      const { name } = (await client.files.get({ params: { id: ids.film } })).data;
      await visit.open(`/projects/${projectId}?keyword=${name}`);
      await page.getByRole('checkbox', { name: `Choose ${name}` }).click();
      await expectOffered(page.getByRole('button', { name: 'Move', exact: true }), mayEdit, why);
      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      const saved = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: 'Markers for Avid and Resolve (EDL)' }).click();
      expect((await saved).suggestedFilename()).toMatch(/\.edl$/);
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search everything' }).fill(content);
      await page.getByRole('option', { name: new RegExp(content) }).click();
      await page.waitForURL(new RegExp(`/files/${ids.film}`));

      // Uploads.
      await visit.open(`/projects/${projectId}`);
      await expectOffered(page.getByRole('button', { name: 'Upload', exact: true }), mayEdit, why);
      if (mayEdit) {
        const file = { name: `${role} ${look}.txt`, mimeType: 'text/plain', buffer: Buffer.from(content) };
        await page.getByLabel('Files to upload').setInputFiles(file);
        await page.getByRole('list', { name: 'Folders and files' }).getByRole('link', { name: file.name }).waitFor();
      }

      // Generating, and the run with its result.
      await visit.open(`/generate?project=${projectId}`);
      const generate = page.getByRole('main').getByRole('button', { name: 'Generate', exact: true });
      await expectOffered(generate, mayEdit, why);
      if (mayEdit) {
        await page.getByRole('textbox', { name: 'Prompt' }).fill(content);
        await generate.click();
        await page.getByRole('link', { name: `Open the result: ${content}` }).waitFor();
      }
      await visit.open(`/runs/${ids.image}`);
      await page.getByRole('link', { name: 'Open the result' }).waitFor();
      await visit.settled();
      const prompts = await page.getByRole('region', { name: 'Prompt' }).getByText('A lamp on the pier').count();
      expect(prompts).toBe(role === 'PROJECT_RESTRICTED_REVIEWER' ? 0 : 1);
      await visit.expectAccessible('a run');
      expect(visit.takeConsoleErrors()).toEqual([]);

      // A key that is revoked while one writes.
      await visit.openLive(`/files/${ids.cut}`);
      await composer.fill('Half a thought');
      await fixture().revoke(key);
      const again = page.getByRole('dialog', { name: 'Sign in again' });
      await again.getByLabel('API key').fill(await fixture().keyOf(emailOf(role)));
      await again.getByRole('button', { name: 'Sign in' }).click();
      await again.waitFor({ state: 'detached' });
      await expect.poll(() => composer.inputValue()).toBe('Half a thought');
      expect(visit.takeConsoleErrors(/401/)).toEqual([]);
    },
  );
});
