import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { inConsole } from './console-house.ts';
import type { Manner, Visit } from './visit.ts';

/** SCREENSHOTS=<folder> keeps a picture of every page; those of the README are made so. */
const folder = process.env['SCREENSHOTS'];

export const LIGHT: Manner = {};
export const DARK: Manner = { dark: true };
export const LIGHT_PHONE: Manner = { phone: true };
export const DARK_PHONE: Manner = { dark: true, phone: true };

const nameOf = ({ dark = false, phone = false }: Manner) => `${dark ? 'dark' : 'light'}${phone ? '-on-a-phone' : ''}`;

/** Opens every page of the console: it is accessible, fits the window, and the browser complains about nothing. */
export function lookAtEveryPage(manners: readonly Manner[]): void {
  inConsole('the pages of the console', (house) => {
    const ids: Record<string, string> = {};
    beforeAll(async () => {
      const { service } = house();
      const { client, projectId } = service;
      const asked = {
        document: ['pdf', 'A treatment for a film about a lamp'],
        failed: ['gpt-image-2', 'A lamp [fail]'],
        image: ['gpt-image-2', 'A foggy harbour at dawn, one lamp on the pier'],
        video: ['seedance-2.0-mini', 'A slow pan over a foggy harbour'],
        model: ['meshy-7', 'A brass lamp with a green shade'],
      } as const;
      for (const [name, [model, prompt]] of Object.entries(asked)) ids[name] = await service.generate(model, prompt);
      await Promise.all(Object.values(ids).map((id) => service.ended(id)));
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
      ['generate', '/generate?type=VIDEO&model=seedance-2.5&prompt=A%20slow%20pan%20over%20a%20harbour', 'Generate'],
      ['runs', `/runs?project=${projectId}`, 'Runs'],
      ['run', `/runs/${ids['failed']}`, 'About this run'],
      ['video', `/files/${ids['video']}?at=900`, 'Details'],
      ['document', `/files/${ids['document']}`, 'Details'],
      ['image', `/files/${ids['image']}`, 'Details'],
      ['model', `/files/${ids['model']}`, 'Details'],
      ['projects', '/projects', 'Projects'],
      ['files', `/projects/${projectId}`, 'Spring campaign'],
      ['versions', `/projects/${projectId}/versions`, 'Spring campaign'],
      ['version', `/projects/${projectId}/versions/${ids['version']}`, 'First cut'],
      ['comments', `/projects/${projectId}/comments`, 'Spring campaign'],
      ['members', `/projects/${projectId}/members`, 'Spring campaign'],
      ['links', `/projects/${projectId}/links`, 'Spring campaign'],
      ['settings', `/projects/${projectId}/settings`, 'Delete the project'],
      ['compare', `/compare?left=${ids['video']}&right=${ids['video']}`, 'Compare'],
      ['nothing-to-compare', '/compare', 'Choose two files'],
      ['join', '/join', 'Join a project'],
      ['skills', '/skills', 'Skills'],
      ['skill', `/skills/${ids['skill']}`, 'Versions'],
      ['skill-editor', `/skills/${ids['skill']}?write=true`, 'Review a cut'],
      ['health', '/health', 'Models'],
      ['nothing', '/nowhere', 'Page not found'],
    ];

    async function examine(visit: Visit, name: string, manner: Manner): Promise<void> {
      const { page } = visit;
      const where = `${name}, ${nameOf(manner)}`;
      await page.waitForLoadState('networkidle');
      await visit.expectAccessible(where);
      expect(visit.takeComplaints(), where).toEqual([]);
      const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate(sideways), `${where} scrolls sideways`).toBe(0);
      if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}-${nameOf(manner)}.png`) });
    }

    test.each(manners.map((manner) => [nameOf(manner), manner] as const))(
      'are accessible and complain about nothing: %s',
      async (_, manner) => {
        await using stranger = await house().visit({ ...manner, key: null });
        await stranger.open('/');
        await stranger.page.getByLabel('API key').waitFor();
        await examine(stranger, 'sign-in', manner);
        await using visit = await house().visit(manner);
        for (const [name, path, heading] of pages(house().service.projectId)) {
          await visit.open(path);
          await visit.page.getByRole('heading', { name: heading }).first().waitFor();
          await examine(visit, name, manner);
        }
      },
      180_000,
    );
  });
}
