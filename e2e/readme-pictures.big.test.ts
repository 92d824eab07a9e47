import { join } from 'node:path';
import { mentionOf } from '@review/contract';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { findUser } from '../packages/server/src/accounts/queries.ts';
import { inConsole, REVIEWER } from './console-fixture.ts';
import { until } from './processes.ts';
import type { BrowserOptions } from './visit.ts';

/** SCREENSHOTS=<folder> stores the pictures of the README there. */
const folder = process.env['SCREENSHOTS'];

const PROMPT = 'A foggy harbour at dawn, one lamp on the pier';
/** The files of the project, oldest first. */
const FILES = [
  ['Harbour pan, take 3.mp4', 'seedance-2.0-mini', 'A slow pan over a foggy harbour'],
  ['Harbour at dawn.png', 'gpt-image-2', PROMPT],
  ['Poster, lamp keeper.png', 'gpt-image-2', 'Poster: the lamp keeper'],
  ['Brass lamp.glb', 'meshy-7', 'A brass lamp with a green shade'],
  ['Treatment.pdf', 'pdf', 'A treatment for a film about a lamp'],
  ['Storyboard 12.png', 'gemini-3.1-flash-image', 'Storyboard frame: the pier at night'],
  ['Lamp off, on.mp4', 'veo-3.1-generate-preview', 'The lamp goes out, then on again'],
] as const;
const DRAWN = { color: '#ff3b30', strokeWidth: 0.006 };

describe.skipIf(folder === undefined)('for the README', () => {
  inConsole('pictures', (fixture) => {
    let video: string;
    let dawn: string;
    let poster: string;
    beforeAll(async () => {
      const { service } = fixture();
      const ids: string[] = [];
      for (const [name, model, prompt] of FILES) {
        const id = await service.generate(model, prompt);
        await service.waitForEnd(id);
        await service.client.files.update({ params: { id }, body: { name } });
        ids.push(id);
      }
      for (const id of ids) await until(`${id} has a picture`, async () => (await service.file(id)).thumbnailUrl);
      [video = '', dawn = '', poster = ''] = ids;

      const as = async (email: string) => service.clientAt(service.url, { token: await fixture().keyOf(email) });
      const params = { id: video };
      await (await as(REVIEWER)).comments.createOnFile({
        params,
        body: { content: 'Hold the wide a beat longer before the pan begins.', anchor: 400, duration: 1100 },
      });
      const reviewer = (await findUser(service.database.db, REVIEWER)) ?? '';
      await service.client.comments.createOnFile({
        params,
        body: {
          content: `${mentionOf(reviewer)} can the light here be softer? See the arrow.`,
          anchor: 2000,
          annotation: {
            version: 1,
            shapes: [
              { type: 'ELLIPSE', x: 0.52, y: 0.28, width: 0.22, height: 0.34, ...DRAWN },
              { type: 'ARROW', from: [0.3, 0.24], to: [0.51, 0.38], ...DRAWN },
              { type: 'TEXT', x: 0.16, y: 0.16, text: 'Softer light', ...DRAWN },
            ],
          },
        },
      });
      await (await as('max@demo.example')).comments.createOnFile({
        params,
        body: { content: 'Approved from my side once the **grade** is in.', anchor: 3400 },
      });
    }, 240_000);

    const take = async (name: string, path: string, shown: (page: Page) => Promise<void>, options?: BrowserOptions) => {
      await using visit = await fixture().visit(options);
      const { page } = visit;
      await page.setViewportSize({ width: 1440, height: 900 });
      await visit.open(path);
      await shown(page);
      await visit.settled();
      const picture = await page.screenshot();
      await sharp(picture)
        .png({ palette: true, colours: 256, effort: 10 })
        .toFile(join(folder ?? '', `${name}.png`));
      expect(visit.takeConsoleErrors()).toEqual([]);
    };
    const projectId = () => fixture().service.projectId;

    test('a video under review', () =>
      take('review-light', `/files/${video}?at=2000`, async (page) => {
        await page.getByText('Approved from my side').waitFor();
        await page.getByText('frame 48').waitFor();
      }));

    test('the files of a project as a grid', () =>
      take('grid-light', `/projects/${projectId()}?view=grid`, async (page) => {
        for (const [name] of FILES) await page.getByRole('link', { name, exact: true }).first().waitFor();
      }));

    test('the playground', () => {
      const asked = new URLSearchParams({ project: projectId(), type: 'IMAGE', model: 'gpt-image-2', prompt: PROMPT });
      asked.set('results', JSON.stringify([dawn, poster]));
      return take('generate-light', `/generate?${asked}`, (page) => page.getByText('Ready').first().waitFor());
    });

    test('two images side by side, dark', () =>
      take(
        'compare-dark',
        `/compare?left=${dawn}&right=${poster}`,
        async (page) => {
          for (const name of ['Left', 'Right'])
            await page.getByRole('region', { name, exact: true }).getByRole('img').first().waitFor();
        },
        { dark: true },
      ));
  });
});
