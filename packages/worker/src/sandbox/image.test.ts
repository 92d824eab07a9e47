import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { HOSTILE, modelsOf, PROMPT, requestOf, workshop } from './test/requests.ts';

const { make } = await workshop();

const SIZES: Record<string, string> = {
  'gpt-image-2.5-flare': '1536x1024',
  'gpt-image-2': '1024x1536',
  'gemini-3-pro-image': '2048x2048',
  'gemini-3.1-flash-image': '1264x848',
  'gemini-3.1-flash-lite-image': '1024x1024',
};

it.concurrent.each(modelsOf('IMAGE'))('%s makes a picture of its size', async (model) => {
  const { path, mimeType, extension, size } = await make(requestOf(model));
  const bytes = await readFile(path);
  expect({ mimeType, extension, size }).toEqual({ mimeType: 'image/png', extension: 'png', size: bytes.length });
  const { format, width, height, channels } = await sharp(bytes).metadata();
  expect({ format, pixels: `${width}x${height}`, channels }).toEqual({
    format: 'png',
    pixels: SIZES[model],
    channels: 3,
  });
  const statistics = await sharp(bytes).stats();
  expect(Math.min(...statistics.channels.map(({ stdev }) => stdev))).toBeGreaterThan(5);
});

/** White letters on the dark panel at the foot: how many pixels are letters. */
async function letters(prompt: string): Promise<number> {
  const { path } = await make(requestOf('gemini-3.1-flash-lite-image', prompt));
  const pixels = await sharp(path).greyscale().threshold(250).raw().toBuffer();
  return pixels.reduce((sum, pixel) => sum + (pixel === 255 ? 1 : 0), 0);
}

it('shows the prompt', async () => {
  const [none, few, many] = await Promise.all([letters(' '), letters('Harbour'), letters(PROMPT.repeat(3))]);
  expect(none).toBeLessThan(100);
  expect(few).toBeGreaterThan(500);
  expect(many).toBeGreaterThan(5 * few);
});

it.concurrent.each(HOSTILE)('draws %s', async (_, prompt) => {
  const { path } = await make(requestOf('gpt-image-2', prompt));
  expect((await sharp(path).metadata()).width).toBe(1024);
});

it('makes the same picture twice, and another one of another prompt or model', async () => {
  const pixels = async (model: string, prompt: string) =>
    sharp((await make(requestOf(model, prompt))).path)
      .raw()
      .toBuffer();
  const one = await pixels('gemini-3.1-flash-lite-image', PROMPT);
  expect(one.equals(await pixels('gemini-3.1-flash-lite-image', PROMPT))).toBe(true);
  expect(one.equals(await pixels('gemini-3.1-flash-lite-image', `${PROMPT}.`))).toBe(false);
  expect(one.equals(await pixels('gpt-image-2', PROMPT))).toBe(false);
});
