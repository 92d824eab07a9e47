import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MediaKind } from '@review/contract';
import sharp from 'sharp';
import { onTestFinished } from 'vitest';
import { removeDirectory } from '../../remove-directory.ts';
import { makeProxy, readContent } from '../read-media.ts';
import type { Decoder } from '../read-order.ts';
import type { Limits } from '../run-isolated.ts';

const SIGNAL_MS = 200_000;

/** Reads content as a worker does. `open` opens a picture of the output, `proxy` makes a proxy and returns its path. */
export async function readFile(
  kind: MediaKind,
  mimeType: string,
  bytes: Uint8Array,
  { limits, decoder = { name: 'node-av' } }: { limits?: Limits; decoder?: Decoder } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'media-'));
  onTestFinished(() => removeDirectory(folder));
  const [input, output] = [join(folder, 'input'), await mkdtemp(join(folder, 'output-'))];
  await writeFile(input, bytes);
  const content = { kind, mimeType, input, output, decoder };
  const found = await readContent(content, AbortSignal.timeout(SIGNAL_MS), limits);
  return {
    ...found,
    content,
    output,
    open: (name: string) => sharp(join(output, name)),
    async proxy(height: number) {
      const durationMs = found.facts.durationMs ?? 0;
      const { files } = await makeProxy(content, { height, durationMs }, AbortSignal.timeout(SIGNAL_MS));
      return { files, path: join(output, `proxy-${height}.mp4`) };
    },
  };
}
