import { writeFile } from 'node:fs/promises';
import { chanceOf } from './chance.ts';
import { pngOf } from './rasterise.ts';
import type { Maker } from './request.ts';
import { sceneOf } from './scene.ts';

/** The size of each vendor's images. */
const SIZES = new Map([
  ['gpt-image-2.5-flare', { width: 1536, height: 1024 }],
  ['gpt-image-2', { width: 1024, height: 1536 }],
  ['gemini-3-pro-image', { width: 2048, height: 2048 }],
  ['gemini-3.1-flash-image', { width: 1264, height: 848 }],
]);
const DEFAULT_SIZE = { width: 1024, height: 1024 };

const imageSize = (model: string): { width: number; height: number } => SIZES.get(model) ?? DEFAULT_SIZE;

export const makeImage: Maker = async (request, path, task) => {
  const { svg } = sceneOf(request, chanceOf(request, 'picture'), imageSize(request.outputModel));
  task.progress(0.2);
  const png = await pngOf(svg);
  await writeFile(path, png);
};
