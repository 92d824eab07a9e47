import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MediaKind } from '@review/contract';
import sharp from 'sharp';
import { onTestFinished } from 'vitest';
import { readContent } from '../read-media.ts';
import type { Limits } from '../run-isolated.ts';

/** Reads content as a worker does. `open` opens a picture of the output. */
export async function readFile(kind: MediaKind, mimeType: string, bytes: Uint8Array, limits?: Limits) {
  const folder = await mkdtemp(join(tmpdir(), 'media-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [input, output] = [join(folder, 'input'), await mkdtemp(join(folder, 'output-'))];
  await writeFile(input, bytes);
  const found = await readContent({ kind, mimeType, input, output }, AbortSignal.timeout(120_000), limits);
  return { ...found, output, open: (name: string) => sharp(join(output, name)) };
}
