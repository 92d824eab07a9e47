import { randomBytes } from 'node:crypto';
import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { inConsole } from './console-fixture.ts';
import { until } from './processes.ts';
import { sha256 } from './service.ts';
import type { Visit } from './visit.ts';

const PART_BYTES = 64 * 1024;
const PARTS = 16;

inConsole(
  'files in the console',
  (fixture) => {
    async function newProject(visit: Visit): Promise<string> {
      const id = await fixture().newProject('Uploads');
      await visit.open(`/projects/${id}`);
      await visit.page.getByText('No files here yet').waitFor();
      return id;
    }
    // The list of uploads has links of the same name, until they are done.
    const listed = (page: Page, name: string) =>
      page.getByRole('list', { name: 'Folders and files' }).getByRole('link', { name });
    const filesOf = async (id: string) => (await fixture().service.client.files.list({ params: { id } })).data;

    /** Lets `passing` parts through and holds the others until `open` is called. */
    async function holdParts(page: Page, passing: number) {
      const held: Route[] = [];
      let sent = 0;
      let open = false;
      await page.route('**/blobs/**', async (route) => {
        if (route.request().method() !== 'PUT') return route.continue();
        if (!open && sent >= passing) return void held.push(route);
        sent++;
        await route.continue();
      });
      return {
        sent: () => sent,
        open: () => {
          open = true;
          // Requests of a paused upload were aborted, so continuing them fails.
          for (const route of held) void route.continue().catch(() => {});
        },
      };
    }

    test('a paused upload resumes after a reload and arrives complete', async () => {
      await using visit = await fixture().visit();
      const { page } = visit;
      const projectId = await newProject(visit);
      const bytes = randomBytes(PART_BYTES * PARTS);
      const source = { name: 'rushes.bin', mimeType: 'application/octet-stream', buffer: bytes };
      const gate = await holdParts(page, 6);
      await page.getByLabel('Files to upload').setInputFiles(source);
      const uploads = page.getByRole('list', { name: 'Uploads' });
      await uploads.getByText('37 %').waitFor();
      await visit.expectAccessible('an upload');
      await page.getByRole('button', { name: 'Pause the upload of rushes.bin' }).click();
      await uploads.getByText('Paused').waitFor();
      await page.reload();
      await uploads.getByText('Waiting for its file').waitFor();

      const choose = async (file: typeof source) => {
        const chooser = page.waitForEvent('filechooser');
        await page.getByRole('button', { name: 'Choose rushes.bin' }).click();
        await (await chooser).setFiles(file);
      };
      await choose({ ...source, buffer: bytes.subarray(1) });
      await uploads.getByText('That is not the same file').waitFor();
      gate.open();
      await choose(source);
      await uploads.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'rushes.bin' }).waitFor();
      expect(gate.sent(), 'no part that had arrived was sent again').toBe(PARTS);
      const [file] = await filesOf(projectId);
      expect(file).toMatchObject({ status: 'UPLOADED', size: bytes.length });
      expect(sha256(await fixture().service.bytesOf(file?.id ?? ''))).toBe(sha256(bytes));
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('a paused upload resumes on click; an aborted one is deleted on the server', async () => {
      await using visit = await fixture().visit();
      const { page } = visit;
      const projectId = await newProject(visit);
      const gate = await holdParts(page, 2);
      const buffer = randomBytes(PART_BYTES * 4);
      const mimeType = 'application/octet-stream';
      await page.getByLabel('Files to upload').setInputFiles([
        { name: 'kept.bin', mimeType, buffer },
        { name: 'dropped.bin', mimeType, buffer },
      ]);
      await until('the service lists both uploads', async () => (await filesOf(projectId)).length === 2);
      await page.getByRole('button', { name: 'Pause the upload of kept.bin' }).click();
      await page.getByText('Paused').waitFor();
      await page.getByRole('button', { name: 'Abort the upload of dropped.bin' }).click();
      gate.open();
      await page.getByRole('button', { name: 'Resume the upload of kept.bin' }).click();
      await page.getByRole('list', { name: 'Uploads' }).waitFor({ state: 'detached' });
      await expect
        .poll(async () => (await filesOf(projectId)).map(({ name, status }) => `${name} ${status}`).toSorted())
        .toEqual(['dropped.bin CANCELED', 'kept.bin UPLOADED']);
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('unreadable stored uploads do not break the page', async () => {
      await using visit = await fixture().visit();
      await newProject(visit);
      await visit.page.evaluate("sessionStorage.setItem('uploads', '[{')");
      await visit.page.reload();
      await visit.page.getByText('No files here yet').waitFor();
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('dropped files are uploaded into the open folder', async () => {
      await using visit = await fixture().visit();
      const { page } = visit;
      const projectId = await newProject(visit);
      const { data: folder } = await fixture().service.client.folders.create({
        params: { id: projectId },
        body: { name: 'Inbox' },
      });
      await visit.open(`/projects/${projectId}?folder=${folder.id}`);
      await page.getByText('No files here yet').waitFor();
      const dataTransfer = await page.evaluateHandle(`(() => {
      const carried = new DataTransfer();
      carried.items.add(new File(['a note'], 'note.txt', { type: 'text/plain' }));
      return carried;
    })()`);
      const target = page.getByText('No files here yet');
      await target.dispatchEvent('dragover', { dataTransfer });
      await page.getByText('Drop to upload into Inbox').waitFor();
      await visit.expectAccessible('a folder that files are dragged over');
      await target.dispatchEvent('drop', { dataTransfer });
      await page.getByRole('link', { name: 'note.txt' }).waitFor();
      await expect.poll(() => filesOf(projectId)).toMatchObject([{ name: 'note.txt', folder: { id: folder.id } }]);
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('a file can be tagged, renamed, moved, downloaded and deleted', async () => {
      await using visit = await fixture().visit();
      const { page } = visit;
      const projectId = await newProject(visit);
      await fixture().service.client.folders.create({ params: { id: projectId }, body: { name: 'Done' } });
      await page.getByLabel('Files to upload').setInputFiles({
        name: 'plan.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('the plan'),
      });
      await page.getByRole('link', { name: 'plan.txt' }).waitFor();
      await page.getByRole('button', { name: /Review status of plan.txt/ }).click();
      await page.getByRole('menuitem', { name: 'Approved' }).waitFor();
      await visit.expectAccessible('the review statuses');
      await page.getByRole('menuitem', { name: 'Approved' }).click();
      await page.getByRole('button', { name: 'Review status of plan.txt: Approved. Change' }).waitFor();
      const menu = async (file: string, item: string) => {
        await page.getByRole('button', { name: `Actions for ${file}` }).click();
        await page.getByRole('menuitem', { name: item }).click();
      };
      await menu('plan.txt', 'Rename');
      await page.getByRole('dialog').getByLabel('Name').fill('idea.txt');
      await visit.expectAccessible('the form for the name of a file');
      await page.getByRole('button', { name: 'Rename', exact: true }).click();
      await page.getByRole('link', { name: 'idea.txt' }).waitFor();
      const download = page.waitForEvent('download');
      await menu('idea.txt', 'Download');
      expect((await download).suggestedFilename()).toBe('idea.txt');
      await page.reload();
      await menu('idea.txt', 'Move');
      await page.getByRole('radio', { name: 'Done' }).check();
      await visit.expectAccessible('the folders to move a file to');
      await page.getByRole('button', { name: 'Move here' }).click();
      await page.getByRole('link', { name: 'idea.txt' }).waitFor({ state: 'detached' });
      await page.getByLabel('Search files in this project').fill('idea');
      await page.getByRole('link', { name: 'idea.txt' }).waitFor();
      await menu('idea.txt', 'Delete');
      await page.getByRole('button', { name: 'Delete file' }).waitFor();
      await visit.expectAccessible('the question before a file is deleted');
      await page.getByRole('button', { name: 'Delete file' }).click();
      await page.getByText('No file matches').waitFor();
      expect(await filesOf(projectId)).toEqual([]);
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('the page of a file leads to its neighbours in the folder, by buttons and by keys', async () => {
      await using visit = await fixture().visit();
      const { page } = visit;
      const projectId = await newProject(visit);
      for (const name of ['first.txt', 'second.txt', 'third.txt']) {
        const buffer = Buffer.from(name);
        await page.getByLabel('Files to upload').setInputFiles({ name, mimeType: 'text/plain', buffer });
        await listed(page, name).waitFor();
      }
      const shown = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
      const [previous, next] = [page.getByLabel('Previous file'), page.getByLabel('Next file')];
      await visit.settled();
      await listed(page, 'third.txt').click();
      await shown('third.txt');
      await page.getByLabel('Order of the comments').selectOption('Newest');
      await next.click();
      await shown('second.txt');
      expect(new URL(page.url()).searchParams.get('sort')).toBe('date');
      await page.keyboard.press(']');
      await shown('first.txt');
      await expect.poll(() => next.isDisabled()).toBe(true);
      // At the end of the folder the key does nothing.
      await page.keyboard.press(']');
      await page.keyboard.press('[');
      await shown('second.txt');
      await page.getByRole('textbox', { name: 'Comment' }).fill('[');
      await shown('second.txt');
      await page.getByRole('heading', { level: 1 }).click();
      await page.keyboard.press('?');
      await page.getByRole('dialog').getByText('Next file of the folder').waitFor();
      await page.keyboard.press('Escape');
      await previous.click();
      await shown('third.txt');
      await visit.expectAccessible('a file with neighbours');
      const second = (await filesOf(projectId)).find(({ name }) => name === 'second.txt');
      await fixture().service.client.files.delete({ params: { id: second?.id ?? '' } });
      await expect.poll(() => next.getAttribute('title')).toBe('first.txt');
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('two images can be compared side by side, by wipe, by overlay and by their difference', async () => {
      const left = await fixture().service.generate('gpt-image-2', 'A red lamp');
      const right = await fixture().service.generate('gpt-image-2', 'A blue lamp');
      for (const id of [left, right]) await fixture().service.waitForEnd(id);
      await using visit = await fixture().visit();
      const { page } = visit;
      await visit.open(`/projects/${fixture().service.projectId}`);
      for (const id of [left, right]) {
        const row = page.getByRole('listitem').filter({ has: page.locator(`a[href="/files/${id}"]`) });
        await row.getByRole('checkbox').check();
      }
      await page.getByRole('button', { name: 'Compare' }).click();
      await page.waitForURL(/\/compare/);
      const pictures = page.getByRole('main').locator('img:not([alt=""])');
      await expect.poll(() => pictures.count()).toBe(2);
      await visit.expectAccessible('pictures side by side');
      for (const mode of ['Wipe', 'Overlay']) {
        await page.getByText(mode, { exact: true }).click();
        await page.waitForURL(new RegExp(`mode=${mode.toLowerCase()}`));
        await page.reload();
        const slider = page.getByRole('slider');
        await slider.focus();
        await page.keyboard.press('Home');
        const style = await pictures.nth(1).getAttribute('style');
        expect(style).toMatch(mode === 'Wipe' ? /inset\(0(px)? 0(px)? 0(px)? 0%\)/ : /opacity: 0/);
        if (mode === 'Wipe')
          await expect.poll(() => pictures.nth(0).getAttribute('style')).toMatch(/inset\(0(px)? 100%/);
        await visit.expectAccessible(mode);
      }
      await page.getByText('Difference', { exact: true }).click();
      await page.waitForURL(/mode=difference/);
      await expect.poll(() => pictures.nth(1).getAttribute('style')).toMatch(/mix-blend-mode: difference/);
      await visit.expectAccessible('the difference');
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('two videos play and step in sync', async () => {
      const configs = { resolution: '480p', durationSeconds: 4 };
      const left = await fixture().service.generate('seedance-2.0', 'A slow pan', { configs });
      const right = await fixture().service.generate('seedance-2.0', 'A fast pan', { configs });
      for (const id of [left, right]) await fixture().service.waitForEnd(id);
      await using visit = await fixture().visit();
      const { page } = visit;
      await visit.open(`/compare?left=${left}&right=${right}`);
      const films = '[...document.querySelectorAll("video")]';
      const times = () => page.evaluate<number[]>(`${films}.map((film) => film.currentTime)`);
      const ready = () => page.evaluate<number>(`${films}.filter((film) => film.readyState > 2).length`);
      await expect.poll(ready).toBe(2);
      await visit.expectAccessible('two videos');
      await page.getByRole('button', { name: 'Play both' }).click();
      await expect.poll(async () => Math.min(...(await times()))).toBeGreaterThan(0.5);
      await page.getByRole('button', { name: 'Pause both' }).click();
      const apart = async () => {
        const [one = 0, other = 9] = await times();
        return Math.abs(one - other);
      };
      await expect.poll(apart).toBeLessThan(0.05);
      const [before = 0] = await times();
      await page.getByRole('button', { name: 'Next frame of both' }).click();
      await expect.poll(async () => ((await times())[0] ?? 0) > before).toBe(true);
      await expect.poll(apart).toBeLessThan(0.05);

      const comments = (side: string) => page.getByRole('region', { name: `Comments on the ${side} file` });
      const { client } = fixture().service;
      await client.comments.createOnFile({ params: { id: right }, body: { content: 'Slower here.', anchor: 2000 } });
      await comments('left').getByRole('textbox', { name: 'Comment' }).fill('Better than before.');
      await comments('left').getByRole('button', { name: 'Comment', exact: true }).click();
      await comments('left').getByRole('article').getByText('Better than before.').waitFor();
      await expect
        .poll(async () => (await client.comments.listOnFile({ params: { id: left } })).data[0]?.anchor ?? 0)
        .toBeGreaterThan(500);
      await comments('right').getByRole('button', { name: '0:02.0' }).click();
      await expect.poll(times).toEqual([2, 2]);

      const film = page.locator('video');
      for (const [mode, style] of [
        ['Wipe', /clip-path: inset\(0(px)? 0(px)? 0(px)? 50%\)/],
        ['Overlay', /opacity: 0\.5/],
        ['Difference', /mix-blend-mode: difference/],
      ] as const) {
        await page.getByText(mode, { exact: true }).click();
        await page.waitForURL(new RegExp(`mode=${mode.toLowerCase()}`));
        await expect.poll(() => film.nth(1).getAttribute('style')).toMatch(style);
        await expect.poll(ready).toBe(2);
        await expect.poll(times).toEqual([2, 2]);
        await visit.expectAccessible(`${mode} of videos`);
      }
      const boxes = await page.evaluate<string[]>(
        `${films}.map((each) => JSON.stringify(each.getBoundingClientRect()))`,
      );
      expect(boxes[0]).toBe(boxes[1]);
      await page.getByRole('button', { name: 'Play both' }).click();
      await expect.poll(async () => Math.min(...(await times()))).toBeGreaterThan(2.3);

      const sources = () => page.evaluate<string[]>(`${films}.map((film) => film.src)`);
      const expired = await sources();
      await page.evaluate(`${films}.forEach((film) => film.dispatchEvent(new Event('error')))`);
      await expect.poll(async () => (await sources()).filter((source) => expired.includes(source))).toEqual([]);
      await expect.poll(ready).toBe(2);
      expect(Math.min(...(await times()))).toBeGreaterThan(2.3);
      await page.reload();
      await expect.poll(ready).toBe(2);
      expect(visit.takeConsoleErrors()).toEqual([]);
    });

    test('a file is compared with its previous version first', async () => {
      await using visit = await fixture().visit();
      const { page } = visit;
      await newProject(visit);
      // The smallest PNG, of one pixel.
      const buffer = Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      );
      for (const name of ['Poster v1.png', 'poster_v2.png', 'Logo.png', 'Poster v3 final.png']) {
        await page.getByLabel('Files to upload').setInputFiles({ name, mimeType: 'image/png', buffer });
        await listed(page, name).waitFor();
      }
      await visit.settled();
      await listed(page, 'Poster v3 final.png').click();
      await page.getByRole('link', { name: 'Compare' }).click();
      await page.waitForURL(/right=/);
      const chosen = (side: string) =>
        page.getByRole('combobox', { name: side }).locator('option:checked').textContent();
      await expect.poll(() => chosen('Right')).toBe('poster_v2.png');
      expect(await chosen('Left')).toBe('Poster v3 final.png');
      const groups = page.getByRole('combobox', { name: 'Right' }).locator('optgroup');
      await expect
        .poll(() => groups.first().locator('option').allTextContents())
        .toEqual(['poster_v2.png', 'Poster v1.png']);
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Poster v3 final.png' }).waitFor();
      expect(visit.takeConsoleErrors()).toEqual([]);
    });
  },
  { UPLOAD_PART_SIZE: String(PART_BYTES) },
);
