import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { findModel, settingsInEffect } from '@review/contract';
import { renderSandbox } from '../../sandbox/render.ts';

/** Real media for doubles, different for each submit, so that mixed-up results are detected. */
export async function mediaOf(outputModel: string, mark: string): Promise<Buffer> {
  const type = findModel(outputModel)?.outputType;
  // Fast to render, because it has no label.
  if (type === '3D') return make(outputModel, mark);
  const bytes = await (cache.get(outputModel) ?? remember(outputModel));
  const label = Buffer.from(mark);
  if (type !== 'VIDEO') return bytes;
  // An MP4 box of a type that players skip.
  const box = Buffer.alloc(8);
  box.writeUInt32BE(8 + label.length);
  box.write('free', 4);
  return Buffer.concat([bytes, box, label]);
}

/** The length of the IEND chunk of a PNG. */
const PNG_END = 12;

/** Adds a text chunk to a picture, so that the pictures of different submits differ. */
export function marked(png: Buffer, mark: string): Buffer {
  const content = Buffer.concat([Buffer.from('tEXtComment\0'), Buffer.from(mark)]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length - 4);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([png.subarray(0, -PNG_END), length, content, sum, png.subarray(-PNG_END)]);
}

const cache = new Map<string, Promise<Buffer>>();

function remember(outputModel: string): Promise<Buffer> {
  const made = make(outputModel);
  cache.set(outputModel, made);
  return made;
}

async function make(outputModel: string, prompt = 'A lamp'): Promise<Buffer> {
  const model = findModel(outputModel);
  if (model === undefined) throw new Error(`There is no model ${outputModel}.`);
  const folder = await mkdtemp(join(tmpdir(), 'review-media-'));
  try {
    const path = join(folder, 'result');
    const least = { generateAudio: true, resolution: '480p', durationSeconds: 3, aspectRatio: '16:9' };
    const settings = model.video && { ...settingsInEffect(model.video, null), ...least };
    const request = { outputType: model.outputType, outputModel, prompt, settings, references: [] };
    await renderSandbox(request, path, { signal: new AbortController().signal, onProgress: () => {} });
    return await readFile(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
