import { mkdtemp, readFile as readBytes, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withEachDecoder } from './test/decoders.ts';
import { type Clip, makeClip, PRORES, readCounter } from './test/make-clip.ts';
import { readFile } from './test/read-file.ts';

withEachDecoder((decoder) => {
  test('ProRes needs proxies, whose frame n is frame n of the original at its time', async () => {
    const clip: Clip = { frames: 30, rate: [24_000, 1001], pixels: 'yuv422p10le', width: 1280, height: 720 };
    const folder = await mkdtemp(join(tmpdir(), 'clips-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const input = join(folder, 'prores.mov');
    await makeClip(input, PRORES, clip);
    const { facts, proxies, proxy } = await readFile('VIDEO', 'video/mp4', await readBytes(input), { decoder });
    expect(facts).toMatchObject({
      width: 1280,
      videoCodec: 'prores',
      frameCount: 30,
      frameRate: { numerator: 24_000, denominator: 1001 },
      audioCodec: null,
    });
    expect(proxies).toEqual([1080, 540]);
    const { files, path } = await proxy(540);
    expect(files).toMatchObject([{ kind: 'PROXY', variant: 540, mimeType: 'video/mp4', width: 960, height: 540 }]);
    expect(await readCounter(path)).toEqual(await readCounter(input));
    expect((await readCounter(path)).map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, n) => n));
    const start = await readBytes(path);
    expect(start.indexOf('moov')).toBeLessThan(start.indexOf('mdat'));
  });
});
