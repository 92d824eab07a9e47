import sharp from 'sharp';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeServer, fakeServer } from '../test/fake-server.ts';
import { dataUri, type PictureLimits, readPictures, readReferences, replaceReferences } from './references.ts';
import { type Double, startDouble } from './test/double.ts';

let server: FakeServer;
let storage: Double;
let kept: Map<string, Buffer>;
beforeEach(async () => {
  server = await fakeServer();
  kept = new Map();
  storage = await startDouble(({ path }) => {
    const bytes = kept.get(path.slice(1));
    return bytes === undefined ? { status: 404 } : { body: bytes };
  });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await storage[Symbol.asyncDispose]();
});

const LIMITS: PictureLimits = { types: ['image/png', 'image/jpeg'], maxBytes: 1024 * 1024 };

const canvas = (width: number, height: number) => sharp({ create: { width, height, channels: 3, background: '#c60' } });

interface Given {
  bytes?: Buffer;
  mimeType?: string;
  size?: number;
}

/** Returns a call with these attachments. */
function callWith(...given: (Given | null)[]) {
  const attachments = given.map((each, index) => {
    const id = `FX1000000000000000000${index}`;
    if (each === null) return { id, content: null };
    if (each.bytes !== undefined) kept.set(id, each.bytes);
    const { mimeType = 'image/png', size = each.bytes?.length ?? 1 } = each;
    return { id, content: { name: `${id}.bin`, mimeType, size, url: `${storage.url}/${id}` } };
  });
  const { row: task } = server.add('meshy-7', { attachments });
  return { task, signal: AbortSignal.timeout(10_000) };
}

const read = (given: Given, limits: Partial<PictureLimits> = {}) =>
  readPictures(callWith(given), 'The vendor', { ...LIMITS, ...limits });

test('pictures of an accepted type are unchanged and in order', async () => {
  const [png, jpeg] = [await canvas(300, 300).png().toBuffer(), await canvas(400, 300).jpeg().toBuffer()];
  const pictures = await readPictures(callWith({ bytes: png }, { bytes: jpeg, mimeType: 'image/jpeg' }), 'V', LIMITS);
  expect(pictures).toMatchObject([
    { id: 'FX10000000000000000000', mimeType: 'image/png', bytes: png },
    { id: 'FX10000000000000000001', mimeType: 'image/jpeg', bytes: jpeg },
  ]);
});

test.each(['webp', 'gif', 'tiff', 'avif'] as const)(
  '%s is converted to PNG if the provider does not accept it',
  async (format) => {
    const bytes = await canvas(320, 200).toFormat(format).toBuffer();
    const [picture] = await read({ bytes, mimeType: `image/${format}` });
    expect(picture?.mimeType).toBe('image/png');
    expect(await sharp(picture?.bytes).metadata()).toMatchObject({ format: 'png', width: 320, height: 200 });
  },
);

test('a drawing is converted to PNG', async () => {
  const bytes = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"><circle r="9"/></svg>');
  const [picture] = await read({ bytes, mimeType: 'image/svg+xml' });
  expect(picture?.mimeType).toBe('image/png');
});

test('the type of a picture is detected from its bytes', async () => {
  const jpeg = await canvas(300, 300).jpeg().toBuffer();
  expect(await read({ bytes: jpeg, mimeType: 'image/png' })).toMatchObject([{ mimeType: 'image/jpeg', bytes: jpeg }]);
  const webp = await canvas(300, 300).webp().toBuffer();
  expect(await read({ bytes: webp, mimeType: 'image/png' })).toMatchObject([{ mimeType: 'image/png' }]);
});

test('a conversion applies the EXIF orientation', async () => {
  const bytes = await canvas(400, 200).withMetadata({ orientation: 6 }).webp().toBuffer();
  const [picture] = await read({ bytes, mimeType: 'image/webp' });
  expect(await sharp(picture?.bytes).metadata()).toMatchObject({ width: 200, height: 400 });
});

test.each([
  [
    'a side too small',
    { side: { min: 128, max: 5000 } },
    [100, 300],
    /is 100x300; The vendor takes sides of 128 to 5000/,
  ],
  ['a side too large', { side: { min: 1, max: 250 } }, [100, 300], /takes sides of 1 to 250 pixels/],
  ['a side too small, without an upper limit', { side: { min: 300 } }, [100, 300], /sides of 300 pixels and more/],
  ['too much together', { maxTotalBytes: 10 }, [300, 300], /attachments together have more than/],
  ['too flat', { ratio: { min: 0.4, max: 2.5 } }, [300, 100], /width to height from 0.4 to 2.5/],
  ['too tall', { ratio: { min: 0.4, max: 2.5 } }, [100, 300], /width to height from 0.4 to 2.5/],
  ['too heavy', { maxBytes: 10 }, [300, 300], /more than/],
] as const)('%s is refused with the limit', async (_, limits, [width, height], message) => {
  const bytes = await canvas(width, height).png().toBuffer();
  await expect(read({ bytes }, limits)).rejects.toMatchObject({
    type: 'INVALID_INPUT',
    message: expect.stringMatching(message),
  });
});

test('a picture exactly at the limits is accepted', async () => {
  const bytes = await canvas(250, 100).png().toBuffer();
  const limits = { side: { min: 100, max: 250 }, ratio: { min: 0.4, max: 2.5 }, maxBytes: bytes.length };
  expect(await read({ bytes }, limits)).toHaveLength(1);
});

test.each([
  ['text', 'text/plain', 'INVALID_INPUT', /is text\/plain; The vendor takes only pictures/],
  ['a broken picture', 'image/png', 'ATTACHMENT_UNREADABLE', /cannot be read as a picture/],
  ['a broken drawing', 'image/svg+xml', 'ATTACHMENT_UNREADABLE', /cannot be read as a picture/],
  ['a picture of no known kind', 'image/x-canon', 'ATTACHMENT_UNREADABLE', /cannot be read as a picture/],
])('%s is refused', async (_, mimeType, type, message) => {
  await expect(read({ bytes: Buffer.from('not a picture'), mimeType })).rejects.toMatchObject({
    type,
    message: expect.stringMatching(message),
  });
});

test('an attachment over every limit is not downloaded', async () => {
  await expect(read({ size: 5_000_000_000, mimeType: 'image/png' })).rejects.toMatchObject({ type: 'INVALID_INPUT' });
  expect(storage.requests).toEqual([]);
});

test('a missing attachment is ATTACHMENT_UNREADABLE, an unavailable storage AWAY', async () => {
  await expect(readReferences(callWith(null))).rejects.toMatchObject({ type: 'ATTACHMENT_UNREADABLE' });
  await expect(readReferences(callWith({}))).rejects.toMatchObject({ type: 'ATTACHMENT_UNREADABLE' });
  for (const mishap of ['reset', { status: 503 }] as const) {
    storage.before = () => mishap;
    await expect(readReferences(callWith({}))).rejects.toMatchObject({ type: 'AWAY' });
  }
});

test('a picture as a data URI', () => {
  const picture = { id: 'FX', name: 'a', mimeType: 'image/png', bytes: Buffer.from('hello') };
  expect(dataUri(picture)).toBe('data:image/png;base64,aGVsbG8=');
});

test('references in a prompt are replaced by the provider’s names, unknown ones are kept', () => {
  const { task } = callWith({}, {});
  const [first, second] = task.attachments.map(({ id }) => id);
  const prompt = `Put <#${second}> on <#${first}>, then <#${second}> again; <#FX99999999999999999999> stays. `;
  expect(replaceReferences({ ...task, prompt }, (position) => `@image_${position}`)).toBe(
    'Put @image_2 on @image_1, then @image_2 again; <#FX99999999999999999999> stays.',
  );
});
