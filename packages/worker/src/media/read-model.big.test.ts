import sharp from 'sharp';
import { expect, test } from 'vitest';
import { deflatedZeros, png } from './test/hostile-files.ts';
import { readFile } from './test/read-file.ts';
import { type Square, squares } from './test/squares.ts';

const read = (bytes: Uint8Array) => readFile('MODEL', 'model/gltf-binary', bytes);

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

// Each part starts a process.
test('a truncated model is refused', { timeout: 60_000 }, async () => {
  const bytes = await squares({});
  for (let tenth = 1; tenth < 10; tenth++) {
    const part = bytes.subarray(0, Math.floor((bytes.length * tenth) / 10));
    await expect(read(part), `${tenth} tenths`).rejects.toMatchObject({ code: 'UNREADABLE' });
  }
});
