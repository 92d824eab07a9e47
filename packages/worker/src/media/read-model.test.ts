import { expect, test } from 'vitest';
import { readFile } from './test/read-file.ts';
import { squares } from './test/squares.ts';

const read = (bytes: Uint8Array) => readFile('MODEL', 'model/gltf-binary', bytes);

test.each([true, false])(
  'a model has its triangles, once per node, and is drawn in its colour (indexed: %s)',
  async (indexed) => {
    const { facts, files, open } = await read(await squares({ nodes: 3, indexed }));
    expect(facts).toMatchObject({ triangleCount: 6, width: null, pageCount: null });
    expect(files.map(({ kind, width, height }) => [kind, width, height])).toEqual([
      ['THUMBNAIL', 320, 320],
      ['POSTER', 640, 640],
    ]);
    const { data, info } = await open('poster.webp').raw().toBuffer({ resolveWithObject: true });
    const shown = [];
    for (let at = 0; at < data.length; at += info.channels) if ((data[at + 3] ?? 0) === 255) shown.push(at);
    expect(shown.length).toBeGreaterThan(10_000);
    const isRed = (at: number) => (data[at] ?? 0) > 100 && (data[at + 1] ?? 0) < 60 && (data[at + 2] ?? 0) < 60;
    expect(shown.filter(isRed).length / shown.length).toBeGreaterThan(0.95);
  },
);

const JSON_AT = 20;

/** A GLB with this JSON and no binary data. */
function glbOf(json: object): Buffer {
  const text = Buffer.from(JSON.stringify(json));
  const padded = Buffer.concat([text, Buffer.alloc((4 - (text.length % 4)) % 4, ' ')]);
  const head = Buffer.alloc(JSON_AT);
  head.write('glTF');
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(JSON_AT + padded.length, 8);
  head.writeUInt32LE(padded.length, 12);
  head.write('JSON', 16);
  return Buffer.concat([head, padded]);
}

test('a model without geometry has no poster', async () => {
  expect(await read(glbOf({ asset: { version: '2.0' } }))).toMatchObject({ facts: { triangleCount: 0 }, files: [] });
});

const mesh = { meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }] };
const view = { bufferViews: [{ buffer: 0, byteLength: 4_000_000_000 }], buffers: [{}] };

test.each([
  [
    'nodes that contain each other',
    { nodes: [{ children: [1] }, { children: [0] }] },
    'LIMIT_EXCEEDED',
    /100000 nodes/,
  ],
  [
    'data outside of the file',
    {
      ...mesh,
      ...view,
      nodes: [{ mesh: 0 }],
      accessors: [{ bufferView: 0, componentType: 5126, count: 3, type: 'VEC3' }],
    },
    'UNREADABLE',
    /outside of the file/,
  ],
  ['JSON of another shape', { nodes: 7 }, 'UNREADABLE', /damaged/],
])('%s is refused', async (_, json, code, message) => {
  await expect(read(glbOf(json))).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});
