import { PROJECT_ROLES } from '@review/contract';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { inConsole } from './console-fixture.ts';
import { emailOf, NAMES } from './desk-roles.ts';
import { PHONE } from './visit.ts';

/** A point of the window that shows the surface of the model. The centre may be empty: a lamp is not solid. */
const SURFACE = `(() => {
  const viewer = document.querySelector('model-viewer');
  const { left, top, width, height } = viewer.getBoundingClientRect();
  for (let row = 1; row < 40; row++) for (let column = 1; column < 40; column++) {
    const [x, y] = [left + (width * column) / 40, top + (height * row) / 40 + 2];
    // On a phone, choosing the tool may scroll a part of the model out of the window.
    if (document.elementFromPoint(x, y) !== viewer) continue;
    if (viewer.positionAndNormalFromPoint(x, y) !== null) return [x, y];
  }
  throw new Error('the model is not in view');
})()`;

/** The labels of the pins on the model, in their order. */
const pins = (page: Page) =>
  page.locator('model-viewer > [role=img]').evaluateAll((shown) => shown.map((pin) => pin.getAttribute('aria-label')));

inConsole('models in the console', (fixture) => {
  let model = '';
  beforeAll(async () => {
    const { service } = fixture();
    model = await service.generate('meshy-7', 'A brass lamp');
    await service.waitForEnd(model);
    await service.client.files.update({ params: { id: model }, body: { allowRestricted: true } });
  }, 120_000);

  // Software rendering of a scene is slow, so that each role loads it once.
  test.each(PROJECT_ROLES)('%s sets a pin, dark and wide, light and on a phone', { timeout: 240_000 }, async (role) => {
    const { client } = fixture().service;
    await using visit = await fixture().visit({ dark: true, key: await fixture().keyOf(emailOf(role)) });
    const { page } = visit;
    await visit.open(`/files/${model}`);
    await page.getByRole('button', { name: 'Show in 3D' }).click();
    const isLoaded = "document.querySelector('model-viewer')?.loaded === true";
    await expect.poll(() => page.evaluate(isLoaded), { timeout: 150_000 }).toBe(true);

    async function setPin(content: string) {
      await page.getByRole('button', { name: 'Set pins', pressed: false }).click();
      const [x, y] = await page.evaluate<[number, number]>(SURFACE);
      await page.mouse.click(x, y);
      await expect.poll(() => pins(page)).toEqual(['Pin 1']);
      await page.getByRole('textbox', { name: 'Comment', exact: true }).fill(content);
      await page.getByRole('button', { name: 'Comment', exact: true }).click();
      const shapes = [expect.objectContaining({ type: 'PIN', z: expect.any(Number) })];
      const posted = async () => (await client.comments.listOnFile({ params: { id: model } })).data;
      await expect
        .poll(posted)
        .toContainEqual(expect.objectContaining({ content, annotation: expect.objectContaining({ shapes }) }));
      const everyone = (await posted()).map((_, index) => `Pin ${index + 1}`);
      await expect.poll(() => pins(page)).toEqual(everyone);
      await visit.expectAccessible(content);
    }

    await setPin(`Polish this, says ${NAMES[role]}`);
    await page.setViewportSize(PHONE);
    await visit.switchColors('light');
    await setPin(`On a phone, says ${NAMES[role]}`);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
