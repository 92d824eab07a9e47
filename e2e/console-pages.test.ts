import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lacksChromium } from './browser.ts';
import { ConsoleHouse, OWNER } from './console-house.ts';

/** SCREENSHOTS=<folder> keeps a picture of every page; those of the README are made so. */
const folder = process.env['SCREENSHOTS'];

describe.skipIf(lacksChromium())('the pages of the console', { timeout: 180_000 }, () => {
  let house: ConsoleHouse;
  let key = '';
  const files: Record<string, string> = {};
  beforeAll(async () => {
    house = await ConsoleHouse.open();
    key = await house.keyOf(OWNER);
    const asked = [
      { outputType: 'DOCUMENT', outputModel: 'pdf', prompt: 'A treatment for a film about a lamp' },
      { outputType: 'IMAGE', outputModel: 'gpt-image-2', prompt: 'A lamp [fail]' },
      { outputType: 'IMAGE', outputModel: 'gpt-image-2', prompt: 'A foggy harbour at dawn, one lamp on the pier' },
      { outputType: 'VIDEO', outputModel: 'seedance-2.0-mini', prompt: 'A slow pan over a foggy harbour' },
    ] as const;
    for (const request of asked) {
      const id = await house.generate(request);
      await house.service.ended(id);
      files[request.outputType] ??= id;
    }
    for (const [anchor, content] of [
      [900, 'The pan begins too early'],
      [3100, 'Hold this longer'],
    ] as const) {
      const { comments } = house.service.client;
      await comments.createOnFile({ params: { id: files['VIDEO'] ?? '' }, body: { content, anchor } });
    }
    files['SKILL'] = (await house.service.client.skills.list()).data[0]?.id ?? '';
  }, 180_000);
  afterAll(() => house?.[Symbol.asyncDispose]());

  const pages: [string, () => string, string][] = [
    [
      'generate',
      () => '/generate?type=VIDEO&model=seedance-2.5&prompt=A%20slow%20pan%20over%20a%20harbour',
      'Generate',
    ],
    ['runs', () => `/runs?project=${house.service.projectId}`, 'Runs'],
    ['run', () => `/runs/${files['IMAGE']}`, 'About this run'],
    ['video', () => `/files/${files['VIDEO']}?at=900`, 'Details'],
    ['document', () => `/files/${files['DOCUMENT']}`, 'Details'],
    ['projects', () => '/projects', 'Projects'],
    ['files', () => `/projects/${house.service.projectId}`, 'Spring campaign'],
    ['versions', () => `/projects/${house.service.projectId}/versions`, 'Spring campaign'],
    ['comments', () => `/projects/${house.service.projectId}/comments`, 'Spring campaign'],
    ['members', () => `/projects/${house.service.projectId}/members`, 'Spring campaign'],
    ['links', () => `/projects/${house.service.projectId}/links`, 'Spring campaign'],
    ['settings', () => `/projects/${house.service.projectId}/settings`, 'Delete the project'],
    ['compare', () => `/compare?left=${files['VIDEO']}&right=${files['VIDEO']}`, 'Compare'],
    ['nothing-to-compare', () => '/compare', 'Choose two files'],
    ['join', () => '/join', 'Join a project'],
    ['skills', () => '/skills', 'Skills'],
    ['skill', () => `/skills/${files['SKILL']}`, 'Versions'],
    ['health', () => '/health', 'Models'],
    ['nothing', () => '/nowhere', 'Nothing here'],
  ];

  test.each([
    ['light', {}],
    ['dark', { dark: true }],
    ['light on a phone', { phone: true }],
    ['dark on a phone', { dark: true, phone: true }],
  ])('are accessible and complain about nothing: %s', async (name, manner) => {
    await using visit = await house.visit({ key, ...manner });
    for (const [page, path, heading] of pages) {
      await visit.open(path());
      await visit.page.getByRole('heading', { name: heading }).first().waitFor();
      await visit.page.waitForLoadState('networkidle');
      await visit.expectAccessible(`${page}, ${name}`);
      expect(visit.takeComplaints(), page).toEqual([]);
      const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await visit.page.evaluate(sideways), `${page} scrolls sideways, ${name}`).toBe(0);
      if (folder !== undefined) {
        await visit.page.screenshot({ path: join(folder, `${page}-${name.replaceAll(' ', '-')}.png`) });
      }
    }
  });

  test('are accessible before anybody has signed in', async () => {
    await using visit = await house.visit();
    await visit.open('/');
    await visit.page.getByLabel('API key').waitFor();
    await visit.expectAccessible('the sign-in');
    expect(visit.takeComplaints()).toEqual([]);
  });
});
