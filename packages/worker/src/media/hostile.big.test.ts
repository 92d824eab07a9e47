import { mkdtemp, readFile as readBytes, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MediaErrorCode, MediaKind } from '@review/contract';
import { FF_ENCODER_AAC, FF_ENCODER_LIBX264 } from 'node-av';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Decoder } from './read-order.ts';
import { withEachDecoder } from './test/decoders.ts';
import { deflatedZeros, formObject, gif, glb, pdf, png, pngComment, webpOfLargestSize } from './test/hostile-files.ts';
import { makeClip } from './test/make-clip.ts';
import { readFile } from './test/read-file.ts';

vi.setConfig({ testTimeout: 300_000 });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostile-'));
});
afterAll(() => rm(folder, { recursive: true }));

type Outcome = MediaErrorCode | 'READY';
type Make = () => Uint8Array | Promise<Uint8Array>;

/** The state in which a worker leaves the file. Any error but a refusal is one of the worker, and fails the test. */
async function outcomeOf(kind: MediaKind, type: string, bytes: Uint8Array, decoder?: Decoder): Promise<unknown> {
  return readFile(kind, type, bytes, decoder && { decoder }).then(
    () => 'READY',
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  );
}

const svg =
  (content: string, size = 'width="100" height="100"') =>
  () =>
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${size}>${content}</svg>`,
    );
const text = (content: string) => () => Buffer.from(content);
const repeated = (levels: number, of: (level: number) => string) =>
  Array.from({ length: levels }, (_, level) => of(level)).join('');

const IMAGES: [string, string, Outcome, Make][] = [
  ['a PNG of 65,535 x 65,535', 'image/png', 'LIMIT_EXCEEDED', () => png(65_535, 65_535, deflatedZeros(1))],
  ['a PNG bomb', 'image/png', 'LIMIT_EXCEEDED', () => png(30_000, 30_000, deflatedZeros(860))],
  ['a PNG with too little data', 'image/png', 'UNREADABLE', () => png(10_000, 10_000, deflatedZeros(1))],
  ['a PNG of no pixels', 'image/png', 'UNREADABLE', () => png(0, 0, deflatedZeros(1))],
  [
    'a PNG with a bomb as its comment',
    'image/png',
    'READY',
    () => png(8, 8, deflatedZeros(1), [pngComment(deflatedZeros(300))]),
  ],
  ['a GIF of 65,535 x 65,535 with one pixel', 'image/gif', 'READY', () => gif(65_535, 65_535, 1)],
  ['a GIF of 100,000 frames', 'image/gif', 'READY', () => gif(1, 1, 100_000)],
  ['a GIF of 5,000 large frames', 'image/gif', 'READY', () => gif(10_000, 10_000, 5000)],
  ['a GIF without an end', 'image/gif', 'READY', () => gif(16, 16, 2000, { isEnded: false })],
  ['a WebP of the largest size', 'image/webp', 'UNREADABLE', webpOfLargestSize],
  ['an SVG of 65,535 x 65,535', 'image/svg+xml', 'LIMIT_EXCEEDED', svg('<rect/>', 'width="65535" height="65535"')],
  [
    'an SVG with a billion laughs',
    'image/svg+xml',
    'UNREADABLE',
    text(
      `<!DOCTYPE svg [<!ENTITY a0 "ha">${repeated(12, (n) => `<!ENTITY a${n + 1} "${`&a${n};`.repeat(10)}">`)}]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&a12;</text></svg>`,
    ),
  ],
  [
    'an SVG that uses itself often',
    'image/svg+xml',
    'UNREADABLE',
    svg(
      `<g id="u0"><rect width="9" height="9"/></g>${repeated(12, (n) => `<g id="u${n + 1}">${`<use xlink:href="#u${n}"/>`.repeat(10)}</g>`)}`,
    ),
  ],
  [
    'an SVG with a file and an address',
    'image/svg+xml',
    'READY',
    svg(
      '<image xlink:href="file:///etc/passwd" width="9" height="9"/><image xlink:href="http://127.0.0.1:1/a.png" width="9" height="9"/>',
    ),
  ],
  ['an SVG as a photo', 'image/jpeg', 'UNREADABLE', svg('<rect/>')],
  ['a program as a PNG', 'image/png', 'UNREADABLE', text('MZ\u0000\u0000')],
  ['a PDF as a PNG', 'image/png', 'UNREADABLE', () => pdf('')],
  ['a GIF as a PNG', 'image/png', 'READY', () => gif(8, 8, 1)],
  ['an empty PNG', 'image/png', 'UNREADABLE', text('')],
];

const DOCUMENTS: [string, Outcome, Make][] = [
  [
    'a PDF of itself',
    'READY',
    () => pdf('/F Do '.repeat(50), { extra: formObject('/F Do ', '/Resources<</XObject<</F 5 0 R>>>>') }),
  ],
  ['a PDF without pages', 'UNREADABLE', text('%PDF-1.4\ntrailer<</Root 1 0 R>>')],
  ['a PDF with a huge page', 'READY', () => pdf('0 0 9 9 re f', { box: '0 0 1e9 1e9' })],
  ['a PDF with a page of no width', 'READY', () => pdf('0 0 9 9 re f', { box: '0 0 0 1e9' })],
  ['a PDF with a page as a line', 'READY', () => pdf('0 0 9 9 re f', { box: '0 0 1 100000' })],
  ['a PDF with deep arrays', 'READY', () => pdf(`${'['.repeat(200_000)}${']'.repeat(200_000)} TJ`)],
  ['a PDF with deep objects', 'READY', () => pdf('', { extra: `5 0 obj${'<</A'.repeat(100_000)}\nendobj\n` })],
  [
    'a PDF with a bomb',
    'READY',
    () => {
      const zeros = deflatedZeros(500);
      return Buffer.concat([
        Buffer.from(
          `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n4 0 obj<</Filter/FlateDecode/Length ${zeros.length}>>stream\n`,
        ),
        zeros,
        Buffer.from('\nendstream endobj\ntrailer<</Root 1 0 R>>\n'),
      ]);
    },
  ],
  [
    'a PDF with a huge picture',
    'READY',
    () =>
      pdf('/F Do', {
        extra: `5 0 obj<</Type/XObject/Subtype/Image/Width 60000/Height 60000/BitsPerComponent 8/ColorSpace/DeviceRGB/Length 3>>stream\nabc\nendstream endobj\n`,
      }),
  ],
  [
    'a PDF whose pages contain each other',
    'READY',
    text(
      '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[2 0 R]/Count 9>>endobj\ntrailer<</Root 1 0 R>>\n',
    ),
  ],
  ['a PNG as a PDF', 'UNREADABLE', () => png(8, 8, deflatedZeros(1))],
];

const mesh = (accessor: object, view: object = { buffer: 0, byteLength: 36 }) =>
  JSON.stringify({
    asset: { version: '2.0' },
    nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
    accessors: [{ componentType: 5126, type: 'VEC3', bufferView: 0, ...accessor }],
    bufferViews: [view],
    buffers: [{}],
  });
const MODELS: [string, Outcome, Make][] = [
  ['compressed zeros', 'UNREADABLE', () => deflatedZeros(200)],
  ['JSON longer than the file', 'UNREADABLE', () => glb('{}', { length: 1000 })],
  ['JSON of 4 GB', 'LIMIT_EXCEEDED', () => glb('{}', { length: 0xffffffff })],
  ['a total of 4 GB', 'READY', () => glb('{}', { total: 0xffffffff })],
  ['four billion corners', 'UNREADABLE', () => glb(mesh({ count: 2 ** 32 }))],
  ['a stride of 4 GB', 'UNREADABLE', () => glb(mesh({ count: 3 }, { buffer: 0, byteLength: 36, byteStride: 2 ** 32 }))],
  ['deep JSON', 'UNREADABLE', () => glb(`${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`)],
  ['nodes that contain each other', 'LIMIT_EXCEEDED', () => glb('{"nodes":[{"children":[0,0]}]}')],
  [
    'a file and an address as buffers',
    'READY',
    () => glb(mesh({ count: 3 }).replace('[{}]', '[{"uri":"file:///etc/passwd"},{"uri":"http://127.0.0.1:1/"}]')),
  ],
];

const VIDEOS: [string, Outcome, Make][] = [
  [
    'an HLS playlist of a file',
    'UNREADABLE',
    text('#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n'),
  ],
  [
    'an HLS playlist of an address',
    'UNREADABLE',
    text('#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:1/a.ts\n#EXT-X-ENDLIST\n'),
  ],
  [
    'an HLS playlist of a chain of protocols',
    'UNREADABLE',
    text('#EXTM3U\n#EXTINF:1,\nconcat:http://127.0.0.1:1/?|file:///etc/passwd\n#EXT-X-ENDLIST\n'),
  ],
  ['a list of files', 'UNREADABLE', text("ffconcat version 1.0\nfile '/etc/passwd'\n")],
  [
    'a DASH manifest',
    'UNREADABLE',
    text(
      '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><AdaptationSet><Representation id="1"><BaseURL>file:///etc/passwd</BaseURL></Representation></AdaptationSet></Period></MPD>',
    ),
  ],
  ['an SDP', 'UNREADABLE', text('v=0\no=- 0 0 IN IP4 127.0.0.1\nm=video 1 RTP/AVP 96\n')],
  ['a list of pictures', 'UNREADABLE', text('# mkv, webm\n/etc/passwd\n')],
  ['a video of zeros', 'UNREADABLE', () => Buffer.alloc(1024 * 1024)],
  ['a picture as a video', 'UNREADABLE', () => png(8, 8, deflatedZeros(1))],
  ['an AVI with the text of a file', 'UNREADABLE', text('RIFF\x24\0\0\0AVI LIST\x14\0\0\0GAB2/etc/passwd')],
];

describe.each<[MediaKind, [string, string, Outcome, Make][]]>([
  ['IMAGE', IMAGES],
  ['DOCUMENT', DOCUMENTS.map(([name, outcome, make]) => [name, 'application/pdf', outcome, make])],
  ['MODEL', MODELS.map(([name, outcome, make]) => [name, 'model/gltf-binary', outcome, make])],
])('%s', (kind, files) => {
  test.each(files)('%s (%s) is %s', async (_, type, outcome, make) => {
    expect(await outcomeOf(kind, type, await make())).toBe(outcome);
  });
});

withEachDecoder((decoder) => {
  test.each(VIDEOS)('%s is %s', async (_, outcome, make) => {
    expect(await outcomeOf('VIDEO', 'video/mp4', await make(), decoder)).toBe(outcome);
  });

  test('a sound of zeros is refused', async () => {
    expect(await outcomeOf('AUDIO', 'audio/mpeg', Buffer.alloc(1024), decoder)).toBe('UNREADABLE');
  });

  test.each<[string, () => Promise<Buffer>, Outcome[]]>([
    ['MP4', () => clip('whole.mp4', true), Array(9).fill('UNREADABLE')],
    ['Matroska', () => clip('whole.mkv'), ['UNREADABLE', ...Array(8).fill('READY')]],
  ])('a %s that is truncated at every tenth', async (_, make, outcomes) => {
    expect(await outcomesOfTenths(await make(), (part) => outcomeOf('VIDEO', 'video/mp4', part, decoder))).toEqual([
      ...outcomes,
      'READY',
    ]);
  });
});

test.each(VIDEOS)('%s is refused without a decoder', async (_, __, make) => {
  const outcome = await outcomeOf('VIDEO', 'video/mp4', await make(), { name: 'none' });
  expect(['NO_DECODER', 'UNREADABLE']).toContain(outcome);
});

test('truncated videos have a clear state without a decoder', async () => {
  for (const bytes of [await clip('whole.mp4', true), await clip('whole.mkv')]) {
    const outcomes = await outcomesOfTenths(bytes, (part) => outcomeOf('VIDEO', 'video/mp4', part, { name: 'none' }));
    for (const outcome of outcomes) expect(['READY', 'NO_DECODER', 'UNREADABLE']).toContain(outcome);
    expect(outcomes.at(-1)).toBe('READY');
  }
});

async function clip(name: string, sound = false): Promise<Buffer> {
  const path = join(folder, name);
  const voice = { encoder: FF_ENCODER_AAC, format: 'sample_fmts=fltp:channel_layouts=stereo' };
  await makeClip(path, FF_ENCODER_LIBX264, { frames: 25, ...(sound && { sound: voice }) });
  return readBytes(path);
}

const noise = () => {
  const pixels = Buffer.from(Array.from({ length: 200 * 200 * 3 }, (_, index) => (index * 7919) % 251));
  return sharp(pixels, { raw: { width: 200, height: 200, channels: 3 } });
};
const triangle = () =>
  glb(mesh({ count: 3 }).padEnd(400), {
    binary: Buffer.concat([Buffer.from([36, 0, 0, 0]), Buffer.from('BIN\0'), Buffer.alloc(36)]),
  });
const longPdf = () => pdf(`${'0 0 99 99 re f\n'.repeat(100)}`, { extra: formObject('0 0 9 9 re f') });

/** What becomes of a file that ends after one tenth, two tenths and so on, and of the whole. */
async function outcomesOfTenths(
  whole: Uint8Array,
  outcome: (part: Uint8Array) => Promise<unknown>,
): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let tenth = 1; tenth <= 10; tenth++) {
    found.push(await outcome(whole.subarray(0, Math.floor((whole.length * tenth) / 10))));
  }
  return found;
}

test.each<[string, MediaKind, string, Make]>([
  ['PNG', 'IMAGE', 'image/png', () => noise().png().toBuffer()],
  ['JPEG', 'IMAGE', 'image/jpeg', () => noise().jpeg().toBuffer()],
  ['PDF', 'DOCUMENT', 'application/pdf', longPdf],
  ['GLB', 'MODEL', 'model/gltf-binary', triangle],
])('a %s that is truncated at every tenth is refused', async (_, kind, type, make) => {
  const found = await outcomesOfTenths(await make(), (part) => outcomeOf(kind, type, part));
  expect(found).toEqual([...Array(9).fill('UNREADABLE'), 'READY']);
});
