import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { inConsole } from './console-fixture.ts';
import type { BrowserOptions, Visit } from './visit.ts';

/** SCREENSHOTS=<folder> stores a screenshot of every page. */
const folder = process.env['SCREENSHOTS'];

const nameOf = ({ dark = false, phone = false }: BrowserOptions) =>
  `${dark ? 'dark' : 'light'}${phone ? '-on-a-phone' : ''}`;

inConsole('the pages of the console', (fixture) => {
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    const { service } = fixture();
    const { client, projectId } = service;
    const asked = {
      document: ['pdf', 'A treatment for a film about a lamp'],
      failed: ['gpt-image-2', 'A lamp [fail]'],
      image: ['gpt-image-2', 'A foggy harbour at dawn, one lamp on the pier'],
      video: ['seedance-2.0-mini', 'A slow pan over a foggy harbour'],
      model: ['meshy-7', 'A brass lamp with a green shade'],
    } as const;
    for (const [name, [model, prompt]] of Object.entries(asked)) ids[name] = await service.generate(model, prompt);
    await Promise.all(Object.values(ids).map((id) => service.waitForEnd(id)));
    const remarks = [
      [900, 'The pan begins too early'],
      [3100, 'Hold this longer'],
    ] as const;
    for (const [anchor, content] of remarks) {
      await client.comments.createOnFile({ params: { id: ids['video'] ?? '' }, body: { content, anchor } });
    }
    ids['skill'] = (await client.skills.list()).data[0]?.id ?? '';
    ids['version'] = (await client.versions.list({ params: { id: projectId } })).data[0]?.id ?? '';
  }, 120_000);

  const pages = (projectId: string): [name: string, path: string, heading: string][] => [
    [
      'generate',
      `/generate?project=${projectId}&type=VIDEO&model=seedance-2.5&prompt=A%20slow%20pan%20over%20a%20harbour&results=%5B%22${ids['video']}%22%5D`,
      'Generate',
    ],
    ['runs', `/runs?project=${projectId}`, 'Runs'],
    ['run', `/runs/${ids['failed']}`, 'About this run'],
    ['run-with-result', `/runs/${ids['video']}`, 'About this run'],
    ['video', `/files/${ids['video']}?at=900`, 'Details'],
    ['document', `/files/${ids['document']}`, 'Details'],
    ['image', `/files/${ids['image']}`, 'Details'],
    ['model', `/files/${ids['model']}`, 'Details'],
    ['projects', '/projects', 'Projects'],
    ['review', '/review', 'Needs your review'],
    ['files', `/projects/${projectId}`, 'Spring campaign'],
    ['versions', `/projects/${projectId}/versions`, 'Spring campaign'],
    ['version', `/projects/${projectId}/versions/${ids['version']}`, 'First cut'],
    ['comments', `/projects/${projectId}/comments`, 'Spring campaign'],
    ['activity', `/projects/${projectId}/activity`, 'Spring campaign'],
    ['members', `/projects/${projectId}/members`, 'Spring campaign'],
    ['links', `/projects/${projectId}/links`, 'Spring campaign'],
    ['webhooks', `/projects/${projectId}/webhooks`, 'No webhooks'],
    ['settings', `/projects/${projectId}/settings`, 'Delete the project'],
    ['compare', `/compare?left=${ids['video']}&right=${ids['video']}`, 'Compare'],
    ['nothing-to-compare', '/compare', 'Choose two files'],
    ['join', '/join', 'Join a project'],
    ['skills', '/skills', 'Skills'],
    ['skill', `/skills/${ids['skill']}`, 'Versions'],
    ['skill-editor', `/skills/${ids['skill']}?write=true`, 'Review a cut'],
    ['people', '/people', 'People'],
    ['person', '/people?keyword=Mia%20Member', 'People'],
    ['nobody', '/people?keyword=nobody', 'Nobody matches'],
    ['health', '/health', 'Models'],
    ['nothing', '/nowhere', 'Page not found'],
  ];

  async function examine(visit: Visit, name: string, options: BrowserOptions, expected?: RegExp): Promise<void> {
    const { page } = visit;
    const where = `${name}, ${nameOf(options)}`;
    await visit.settled();
    await visit.expectAccessible(where);
    expect(visit.takeConsoleErrors(expected), where).toEqual([]);
    const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(sideways), `${where} scrolls sideways`).toBe(0);
    if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}-${nameOf(options)}.png`) });
  }

  /** Switches between light and dark where the page is: loading it again took most of the time. */
  async function examineInBothColors(visit: Visit, name: string, options: BrowserOptions): Promise<void> {
    await examine(visit, name, options);
    await visit.switchColors('dark');
    await examine(visit, name, { ...options, dark: true });
    await visit.switchColors('light');
  }

  test.each([
    ['a desktop', {}],
    ['a phone', { phone: true }],
  ] as const)(
    'are accessible, do not scroll sideways and log no errors, light and dark, on %s',
    async (_, options) => {
      await using stranger = await fixture().visit({ ...options, key: null });
      await stranger.open('/');
      await stranger.page.getByLabel('API key').waitFor();
      await examineInBothColors(stranger, 'sign-in', options);
      await using visit = await fixture().visit(options);
      for (const [name, path, heading] of pages(fixture().service.projectId)) {
        await visit.open(path);
        await visit.page.getByRole('heading', { name: heading }).first().waitFor();
        await examineInBothColors(visit, name, options);
      }
    },
    400_000,
  );

  test.each([
    ['max', { dark: true }],
    ['mia', { phone: true }],
    ['rui', {}],
    ['rae', { dark: true, phone: true }],
  ] as const)(
    'ask for nothing that the role forbids: %s',
    async (person, options) => {
      await using visit = await fixture().visit({ ...options, key: await fixture().keyOf(`${person}@demo.example`) });
      for (const [name, path] of pages(fixture().service.projectId)) {
        await visit.open(path);
        // The preview of a skill has its own heading.
        await visit.page.getByRole('heading', { level: 1 }).first().waitFor();
        // A restricted reviewer has opened the address of a file that only others can see.
        await examine(visit, `${person}-${name}`, options, person === 'rae' ? /404/ : undefined);
      }
    },
    400_000,
  );
});
