import { readFile } from 'node:fs/promises';
import { NodeIO } from '@gltf-transform/core';
import { validateBytes } from 'gltf-validator';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { HOSTILE, modelsOf, PROMPT, requestOf, workshop } from './test/requests.ts';

const { make } = await workshop();

async function clean(path: string): Promise<Buffer> {
  const bytes = await readFile(path);
  const { issues, info } = await validateBytes(new Uint8Array(bytes));
  expect(issues.messages).toEqual([]);
  expect(info.totalVertexCount).toBeGreaterThan(1000);
  return bytes;
}

it.concurrent.each(modelsOf('3D'))('%s makes a valid glTF file', async (model) => {
  const { path, mimeType, extension, size } = await make(requestOf(model));
  const bytes = await clean(path);
  expect({ mimeType, extension, size }).toEqual({
    mimeType: 'model/gltf-binary',
    extension: 'glb',
    size: bytes.length,
  });
  const root = (await new NodeIO().readBinary(new Uint8Array(bytes))).getRoot();
  expect(root.getAsset()['extras']).toEqual({
    provider: 'sandbox',
    model,
    prompt: PROMPT,
    references: ['harbour brief.pdf'],
  });
  const [label] = root.listTextures();
  const statistics = await sharp(label?.getImage() ?? Buffer.alloc(0)).stats();
  expect(statistics.channels[0]?.stdev).toBeGreaterThan(20);
});

it.concurrent.each(HOSTILE)('carries %s', async (_, prompt) => {
  await clean((await make(requestOf('meshy-7', prompt))).path);
});

it('makes the same shape twice, and another one of another prompt', async () => {
  const bytes = async (prompt: string) => readFile((await make(requestOf('meshy-7', prompt))).path);
  const one = await bytes(PROMPT);
  expect(one.equals(await bytes(PROMPT))).toBe(true);
  expect(one.equals(await bytes('Something else'))).toBe(false);
});
