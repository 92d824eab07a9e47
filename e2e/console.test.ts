import { upload } from '@review/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lacksChromium } from './browser.ts';
import { ConsoleHouse, generateByHand, OWNER, REVIEWER } from './console-house.ts';

describe.skipIf(lacksChromium())('the console', { timeout: 120_000 }, () => {
  let house: ConsoleHouse;
  let key = '';
  beforeAll(async () => {
    house = await ConsoleHouse.open();
    key = await house.keyOf(OWNER);
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  test('a refused key says why and under which request; a good one leads to where one wanted to go', async () => {
    await using visit = await house.visit();
    const { page } = visit;
    await visit.open('/health');
    await page.getByLabel('API key').fill('prs_k_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('The credential is not valid').waitFor();
    await page.getByRole('button', { name: /^Request [\w-]{8,}/ }).waitFor();
    expect(visit.takeComplaints(/401/)).toEqual([]);

    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Health' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Health' }).waitFor();
    expect(await page.evaluate("[localStorage.getItem('api-key'), document.cookie]")).toEqual([null, '']);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await page.evaluate("sessionStorage.getItem('api-key')")).toBeNull();

    await page.evaluate("sessionStorage.setItem('api-key', 'prs_k_revoked')");
    await visit.open('/runs');
    await page.getByText('is no longer valid. Sign in again.').waitFor();
    expect(visit.takeComplaints(/401/)).toEqual([]);
    expect(visit.takeComplaints()).toEqual([]);
  });

  test.each([
    ['Image', 'GPT Image 2', 'img', 'element.naturalWidth > 0'],
    ['Document', 'PDF document', 'canvas', "element.dataset.drawn === '1'"],
    ['Document', 'Markdown document', 'article h1', 'element.textContent.length > 3'],
    ['Video', 'Seedance 2.0 Mini', 'video', 'element.readyState > 2'],
    ['3D', 'Meshy 7', 'model-viewer', 'element.loaded'],
  ])('%s by %s is generated and drawn, and still there after a reload', async (type, model, selector, isDrawn) => {
    await using visit = await house.visit({ key });
    const { page } = visit;
    await visit.open('/generate');
    await generateByHand(page, type, model, 'A lamp on a pier');
    await page.getByRole('link', { name: 'Open' }).click({ timeout: 60_000 });
    for (const time of ['first', 'again']) {
      const drawn = `(() => { const element = document.querySelector('main ${selector}'); return !!element && ${isDrawn}; })()`;
      const look = async () => ({ drawn: await page.evaluate(drawn), complaints: visit.takeComplaints() });
      await expect
        .poll(look, { timeout: 40_000, interval: 500, message: time })
        .toEqual({ drawn: true, complaints: [] });
      await visit.expectAccessible(`${model}, ${time}`);
      if (time === 'first') await page.reload();
    }
    expect(visit.takeComplaints()).toEqual([]);
  });

  test('a run can be canceled while it goes on, and is shown so after a reload', async () => {
    await using visit = await house.visit({ key });
    const { page } = visit;
    await visit.open('/generate');
    await generateByHand(page, 'Image', 'GPT Image 2', 'A lamp [stall]');
    await page.getByText('Running', { exact: true }).waitFor();
    await page.getByRole('progressbar', { name: 'Progress' }).waitFor({ state: 'attached' });
    await page.reload();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Canceled', { exact: true }).first().waitFor();
    await page.reload();
    await page.getByText('Canceled', { exact: true }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    expect(visit.takeComplaints()).toEqual([]);
  });

  test.each([
    ['[fail]', 'The sandbox failed, as asked.', 'PROVIDER_REJECTED', 'Await job'],
    ['[moderated]', 'content policy', 'MODERATED', 'Submit'],
  ])('a run with %s says what happened, at which step, and what to do', async (sentinel, message, code, step) => {
    await using visit = await house.visit({ key });
    const { page } = visit;
    await visit.open('/generate');
    const id = await generateByHand(page, 'Image', 'GPT Image 2', `A lamp ${sentinel}`);
    await page.getByText('Failed', { exact: true }).first().waitFor();
    const note = page.getByRole('note').first();
    await note.getByText(message).first().waitFor();
    await note.getByText(code).waitFor();
    await page
      .getByRole('list', { name: 'Steps' })
      .getByRole('listitem')
      .filter({ hasText: step })
      .getByText(/^failed ·/)
      .waitFor();
    await page.getByRole('link', { name: 'Run again' }).click();
    await page.waitForURL(/\/generate/);
    expect(await page.getByRole('textbox', { name: 'Prompt' }).inputValue()).toBe(`A lamp ${sentinel}`);
    await visit.open(`/runs?status=FAILED`);
    await page.locator(`a[href="/runs/${id}"]`).waitFor();
    expect(visit.takeComplaints()).toEqual([]);
  });

  test('a file of this machine becomes an attachment that the prompt names', async () => {
    await using visit = await house.visit({ key });
    const { page } = visit;
    await visit.open('/generate?type=IMAGE');
    const choosing = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'From this machine' }).click();
    const lamp = { name: 'lamp.txt', mimeType: 'text/plain', buffer: Buffer.from('A brass lamp') };
    await (await choosing).setFiles(lamp);
    await page.getByRole('textbox', { name: 'Prompt' }).fill('As in ');
    await page.getByRole('button', { name: 'Name lamp.txt in the prompt' }).click();
    const prompt = await page.getByRole('textbox', { name: 'Prompt' }).inputValue();
    expect(prompt).toMatch(/^As in <#GA[0-9A-Z]{20}>$/);
    await page.getByLabel('The request as code').getByText(`"prompt": "${prompt}"`).waitFor();
    for (const [form, words] of [
      ['Typed client', 'review.generation.generate({'],
      ['MCP', '"name": "generate_file"'],
    ] as const) {
      await page.getByText(form, { exact: true }).click();
      await page.getByLabel('The request as code').getByText(words).waitFor();
    }
    await page.getByRole('button', { name: 'Remove lamp.txt' }).click();
    await page.getByText('which is not attached').waitFor();
    expect(visit.takeComplaints()).toEqual([]);
  });

  test('what is dropped or pasted on the form becomes an attachment', async () => {
    await using visit = await house.visit({ key });
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
    await page.waitForURL(/attachments=.*GA.*GA/);
    expect(visit.takeComplaints()).toEqual([]);
  });

  test('a video is stepped frame by frame, and a comment leads to its moment', async () => {
    const { client } = house.service;
    const id = await house.generate({ outputType: 'VIDEO', outputModel: 'seedance-2.0-mini', prompt: 'A lamp' });
    await house.service.ended(id);
    await client.comments.createOnFile({ params: { id }, body: { content: 'Too early', anchor: 2500 } });
    await using visit = await house.visit({ key });
    const { page } = visit;
    await visit.open(`/files/${id}`);
    await page.getByRole('button', { name: /at 2\.5 s: Too early$/ }).click();
    await page.getByText('0:02.500 · frame 60').waitFor();
    await page.keyboard.press('.');
    await page.getByText('frame 61').waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press(',');
    await page.getByText('frame 59').waitFor();
    await page.waitForURL(/at=24\d\d$/);
    await page.reload();
    await page.getByText('frame 59').waitFor();
    expect(visit.takeComplaints()).toEqual([]);
  });

  test('what people write in a file runs nothing', async () => {
    const { client, projectId } = house.service;
    const source = new Blob(['# Hello\n\n<img src=x onerror="document.title=1">\n\n[go](javascript:document.title=2)']);
    const { id } = await upload(client, {
      to: { project: projectId },
      source,
      name: 'hello.md',
      mimeType: 'text/markdown',
    });
    await using visit = await house.visit({ key });
    const { page } = visit;
    await visit.open(`/files/${id}`);
    await page.getByRole('heading', { name: 'Hello' }).waitFor();
    expect(await page.locator('article img').count()).toBe(0);
    expect(await page.getByText('go', { exact: true }).getAttribute('href')).toBe('');
    expect(visit.takeComplaints()).toEqual([]);
  });

  test('the keyboard leads everywhere', async () => {
    await using visit = await house.visit({ key });
    const { page } = visit;
    await visit.open('/health');
    await page.getByRole('heading', { name: 'Health' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Find or do something' }).waitFor();
    await visit.expectAccessible('the command palette');
    await page.keyboard.type('prompt');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Generate' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('colours dark');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.documentElement.dataset.mantineColorScheme')).toBe('dark');
    expect(visit.takeComplaints()).toEqual([]);
  });

  test('the list of runs follows them by itself', async () => {
    await using visit = await house.visit({ key });
    const { page } = visit;
    await visit.open(`/runs?project=${house.service.projectId}`);
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    const id = await house.generate({ outputType: 'IMAGE', outputModel: 'gpt-image-2', prompt: 'A lamp [stall]' });
    await page.reload();
    const row = page.getByRole('listitem').filter({ has: page.locator(`a[href="/runs/${id}"]`) });
    await row.getByText('Running', { exact: true }).waitFor();
    await house.service.client.files.cancel({ params: { id } });
    await row.getByText('Canceled', { exact: true }).waitFor();
    expect(visit.takeComplaints()).toEqual([]);
  });

  test('what the scopes forbid is said, not tried', async () => {
    const reading = await house.keyOf(OWNER, ['projects:read', 'files:read']);
    await using visit = await house.visit({ key: reading });
    const { page } = visit;
    await visit.open('/generate');
    await page.getByRole('note').getByText('This key lacks the scope ai:generate.').waitFor();
    await visit.open('/health');
    await page.getByText('2 of 19').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(visit.takeComplaints()).toEqual([]);
  });

  test('what the role forbids is a button that says why and does nothing', async () => {
    await using visit = await house.visit({ key: await house.keyOf(REVIEWER) });
    const { page } = visit;
    await visit.open('/generate?prompt=A%20lamp');
    const button = page.getByRole('main').getByRole('button', { name: 'Generate', exact: true });
    await button.waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await button.click({ force: true });
    await page
      .getByText('Only owners, managers and members of the project can do this; you are its reviewer.')
      .waitFor();
    expect(page.url()).toContain('/generate');
    expect(visit.takeComplaints()).toEqual([]);
  });
});
