import { join } from 'node:path';
import { NO_FACTS } from '@review/contract/no-facts';
import { openVideo } from './open-video.ts';
import type { ReadOrder, ReadResult } from './read-order.ts';
import { Refused } from './refused.ts';
import { type AvFacts, readFacts } from './video-facts.ts';
import type { Size } from './video-source.ts';

/** Writes a video that every browser plays, with the frames of the original at their times. */
export async function writeProxy(order: ReadOrder, height: number): Promise<ReadResult> {
  await using source = await openVideo(order);
  const read = await readFacts(source.probed, order.maxPixels);
  const renderer = source.createRenderer(read);
  if (source.probed.video === null || renderer === null) throw new Refused('UNREADABLE', 'The file has no video.');
  const name = `proxy-${height}.mp4`;
  const size = sizeOf(read, height);
  await renderer.writeProxy(join(order.output, name), size);
  const shape = { ...size, filmstrip: null };
  return { facts: NO_FACTS, files: [{ kind: 'PROXY', variant: height, file: name, mimeType: 'video/mp4', ...shape }] };
}

/** The pixels of a proxy: its short side is at most the height, and both sides are even. */
function sizeOf({ facts }: AvFacts, height: number): Size {
  const [shownWidth, shownHeight] = [facts.width ?? height, facts.height ?? height];
  const scale = Math.min(1, height / Math.min(shownWidth, shownHeight));
  const even = (side: number) => Math.max(2, Math.round((side * scale) / 2) * 2);
  return { width: even(shownWidth), height: even(shownHeight) };
}
