import { createHash } from 'node:crypto';
import type { SandboxRequest } from './request.ts';

/** A pseudo-random generator, seeded by model, prompt and settings. */
export interface Chance {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number;
  between(least: number, most: number): number;
  whole(least: number, most: number): number;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
}

export function chanceOf({ outputModel, prompt, settings }: SandboxRequest, purpose: string): Chance {
  const video = settings && [
    settings.resolution,
    settings.aspectRatio,
    settings.durationSeconds,
    settings.generateAudio,
  ];
  const digest = createHash('sha256')
    .update(JSON.stringify([purpose, outputModel, prompt, video]))
    .digest();
  const next = sfc32(digest.readInt32LE(0), digest.readInt32LE(4), digest.readInt32LE(8));
  const between = (min: number, max: number) => min + next() * (max - min);
  const whole = (least: number, most: number) => Math.floor(between(least, most + 1));
  return { next, between, whole, pick: (items) => items[whole(0, items.length - 1)] ?? items[0] };
}

/** The sfc32 generator by Chris Doty-Humphrey. */
function sfc32(first: number, second: number, third: number): () => number {
  let [a, b, c, counter] = [first, second, third, 1];
  return () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
}
