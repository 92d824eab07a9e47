import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { inConsole } from './console-fixture.ts';
import { sha256 } from './service.ts';

const MB = 1_000_000;
const BYTES_PER_SECOND = 400_000;

inConsole('the dock of uploads', (fixture) => {
  test('an upload goes on across pages, tells its bytes, speed and time left, and warns before it is left', async () => {
    const { service } = fixture();
    const projectId = await fixture().newProject('Rushes');
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/projects/${projectId}`);
    await page.getByText('No files here yet').waitFor();
    const network = await page.context().newCDPSession(page);
    const limitTo = (uploadThroughput: number) =>
      network.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      });
    await network.send('Network.enable');
    await limitTo(BYTES_PER_SECOND);
    const bytes = randomBytes(6 * MB);
    const mimeType = 'application/octet-stream';
    await page
      .getByLabel('Files to upload')
      .setInputFiles([
        { name: 'rushes.bin', mimeType, buffer: bytes },
        ...['a', 'b', 'c'].map((name) => ({ name: `${name}.bin`, mimeType, buffer: randomBytes(MB) })),
      ]);
    const dock = page.getByRole('region', { name: 'Uploads in progress' });
    const row = dock.getByRole('listitem').filter({ hasText: 'rushes.bin' });
    // The file is one part, so these are bytes of a request under way.
    await row.getByText(/^[\d.]+ [kM]B of 6\.0 MB · [\d.]+ k?M?B\/s · .+ left$/).waitFor();
    await dock.getByText('Waiting', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await row.waitFor();
    await visit.expectAccessible('a page with uploads');

    const asked = page.waitForEvent('dialog');
    await page.evaluate('void setTimeout(() => location.reload())');
    const question = await asked;
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    await row.waitFor();

    await dock.getByRole('button', { name: /^\d uploads?/ }).click();
    await page.getByRole('progressbar', { name: 'All uploads' }).waitFor({ state: 'attached' });
    await visit.expectAccessible('a folded dock of uploads');
    await limitTo(-1);
    await dock.getByRole('status').getByText('4 files uploaded').waitFor();
    await visit.expectAccessible('a dock of finished uploads');
    const { data } = await service.client.files.list({ params: { id: projectId } });
    expect(data.map(({ name, status }) => `${name} ${status}`).toSorted()).toEqual(
      ['a', 'b', 'c', 'rushes'].map((name) => `${name}.bin UPLOADED`),
    );
    const stored = data.find(({ name }) => name === 'rushes.bin');
    expect(sha256(await service.bytesOf(stored?.id ?? ''))).toBe(sha256(bytes));
    await dock.getByRole('button', { name: 'Close the uploads' }).click();
    await dock.waitFor({ state: 'detached' });
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('signing out ends the uploads and forgets them', async () => {
    const projectId = await fixture().newProject('Left');
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/projects/${projectId}`);
    await page.getByText('No files here yet').waitFor();
    await page.route('**/blobs/**', () => {});
    await page
      .getByLabel('Files to upload')
      .setInputFiles({ name: 'left.txt', mimeType: 'text/plain', buffer: Buffer.from('left') });
    await page.getByRole('region', { name: 'Uploads in progress' }).getByText('left.txt').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill(fixture().service.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await expect.poll(() => page.getByRole('region', { name: 'Uploads in progress' }).count()).toBe(0);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
