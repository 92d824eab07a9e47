import { Document, type GLTF, NodeIO } from '@gltf-transform/core';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { deflatedZeros, png } from './test/hostile-files.ts';
import { readFile } from './test/read-file.ts';

const read = (bytes: Uint8Array) => readFile('MODEL', 'model/gltf-binary', bytes);

interface Square {
  nodes?: number;
  color?: [number, number, number];
  indexed?: boolean;
  texture?: { image: Uint8Array; wrap?: GLTF.TextureWrapMode; alphaMode?: GLTF.MaterialAlphaMode };
  /** How often the texture is repeated. */
  times?: number;
}

/** A square of two triangles per node, in that colour, that faces up. */
function squares({ nodes = 1, color = [1, 0, 0], indexed = true, texture, times = 1 }: Square): Promise<Uint8Array> {
  const document = new Document();
  const buffer = document.createBuffer();
  const points = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
  ];
  const order = [0, 1, 2, 0, 2, 3];
  const shown = indexed ? points : order.map((index) => points[index] ?? []);
  const accessor = (type: 'VEC2' | 'VEC3', numbers: number[]) =>
    document.createAccessor().setType(type).setArray(new Float32Array(numbers)).setBuffer(buffer);
  const material = document.createMaterial().setBaseColorFactor([...color, 1]);
  const primitive = document
    .createPrimitive()
    .setAttribute(
      'POSITION',
      accessor(
        'VEC3',
        shown.flatMap(([x = 0, z = 0]) => [x, 0, z]),
      ),
    )
    .setMaterial(material);
  if (indexed) primitive.setIndices(document.createAccessor().setArray(new Uint16Array(order)).setBuffer(buffer));
  if (texture !== undefined) {
    primitive.setAttribute(
      'TEXCOORD_0',
      accessor(
        'VEC2',
        shown.flat().map((part) => part * times),
      ),
    );
    material
      .setBaseColorTexture(document.createTexture().setImage(texture.image).setMimeType('image/png'))
      .setAlphaMode(texture.alphaMode ?? 'OPAQUE');
    if (texture.wrap !== undefined) material.getBaseColorTextureInfo()?.setWrapS(texture.wrap).setWrapT(texture.wrap);
  }
  const mesh = document.createMesh().addPrimitive(primitive);
  const scene = document.createScene();
  for (let index = 0; index < nodes; index++) {
    scene.addChild(
      document
        .createNode()
        .setMesh(mesh)
        .setTranslation([index * 2, 0, 0]),
    );
  }
  return new NodeIO().writeBinary(document);
}

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

const WHITE = { r: 255, g: 255, b: 255, alpha: 1 };
const RED = { r: 255, g: 0, b: 0, alpha: 1 };
const BLUE = { r: 0, g: 0, b: 255, alpha: 1 };
const CLEAR = { r: 0, g: 0, b: 0, alpha: 0 };

/** A picture of two halves, left and right. */
async function halves(left: typeof RED, right: typeof RED): Promise<Buffer> {
  const half = await sharp({ create: { width: 32, height: 64, channels: 4, background: right } })
    .png()
    .toBuffer();
  const whole = sharp({ create: { width: 64, height: 64, channels: 4, background: left } });
  return whole
    .composite([{ input: half, left: 32, top: 0 }])
    .png()
    .toBuffer();
}

/** The parts of the square that are red and blue, of all pixels that a square would cover. */
async function coloursOf(square: Square): Promise<{ red: number; blue: number }> {
  const { open } = await read(await squares({ color: [1, 1, 1], ...square }));
  const { data, info } = await open('poster.webp').ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  let [red, blue] = [0, 0];
  for (let at = 0; at < data.length; at += info.channels) {
    const [r = 0, g = 0, b = 0, alpha = 0] = data.subarray(at, at + 4);
    if (alpha < 128 || g > 80) continue;
    if (r > 100 && b < 80) red += 1;
    if (b > 100 && r < 80) blue += 1;
  }
  return { red: red / data.length, blue: blue / data.length };
}

test('a texture is drawn where it belongs, in the colour of the material', async () => {
  const whole = await coloursOf({ color: [1, 0, 0] });
  const both = await coloursOf({ texture: { image: await halves(RED, BLUE) } });
  expect(both.red / whole.red).toBeCloseTo(0.5, 1);
  expect(both.blue / whole.red).toBeCloseTo(0.5, 1);
  // White times red.
  const tinted = await coloursOf({ color: [1, 0, 0], texture: { image: await halves(WHITE, WHITE) } });
  expect(tinted).toEqual({ red: expect.closeTo(whole.red, 2), blue: 0 });
});

test.each<[string, Square['texture'] & object, [number, number]]>([
  ['repeated', { image: Buffer.alloc(0), wrap: 10497 }, [0.5, 0.5]],
  ['mirrored', { image: Buffer.alloc(0), wrap: 33648 }, [0.5, 0.5]],
  ['clamped', { image: Buffer.alloc(0), wrap: 33071 }, [0.17, 0.83]],
])('a texture is %s outside of its picture', async (_, texture, [red, blue]) => {
  const whole = await coloursOf({ color: [1, 0, 0] });
  const found = await coloursOf({ times: 3, texture: { ...texture, image: await halves(RED, BLUE) } });
  // The mirrored one shows red, blue, blue, red, red, blue.
  expect(found.red / whole.red).toBeCloseTo(red, 1);
  expect(found.blue / whole.red).toBeCloseTo(blue, 1);
});

test('transparent pixels of a mask are holes', async () => {
  const whole = await coloursOf({ color: [1, 0, 0] });
  const image = await halves(CLEAR, RED);
  expect((await coloursOf({ texture: { image, alphaMode: 'MASK' } })).red / whole.red).toBeCloseTo(0.5, 1);
});

test.each<[string, () => Uint8Array]>([
  ['that is damaged', () => Buffer.from('not a picture')],
  ['of 65,535 x 65,535', () => png(65_535, 65_535, deflatedZeros(1))],
  [
    'that is a drawing',
    () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect/></svg>'),
  ],
])('a texture %s is left out: the colour of the material is drawn', async (_, make) => {
  const whole = await coloursOf({ color: [1, 0, 0] });
  const found = await coloursOf({ color: [1, 0, 0], texture: { image: make() } });
  expect(found).toEqual({ red: expect.closeTo(whole.red, 2), blue: 0 });
});

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

// Each part starts a process.
test('a truncated model is refused', { timeout: 60_000 }, async () => {
  const bytes = await squares({});
  for (let tenth = 1; tenth < 10; tenth++) {
    const part = bytes.subarray(0, Math.floor((bytes.length * tenth) / 10));
    await expect(read(part), `${tenth} tenths`).rejects.toMatchObject({ code: 'UNREADABLE' });
  }
});
