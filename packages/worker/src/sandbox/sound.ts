import type { Chance } from './chance.ts';

export const SAMPLE_RATE = 48_000;
export const CHANNELS = 2;

const PENTATONIC = [0, 3, 5, 7, 10] as const;
const FADE = SAMPLE_RATE / 4;

/** Returns a function that renders interleaved samples of a seeded tune. Any split into ranges gives the same samples. */
export function tuneOf(chance: Chance, total: number): (from: number, count: number) => Float32Array {
  const base = 110 * 2 ** (chance.whole(0, 11) / 12);
  const noteLength = SAMPLE_RATE / 2;
  const notes = Array.from(
    { length: Math.ceil(total / noteLength) },
    () => base * 2 ** (1 + chance.whole(0, 1) + chance.pick(PENTATONIC) / 12),
  );
  return (from, count) => {
    const samples = new Float32Array(count * CHANNELS);
    for (let index = 0; index < count; index += 1) {
      const at = from + index;
      const inNote = at % noteLength;
      const seconds = inNote / SAMPLE_RATE;
      const note = notes[Math.floor(at / noteLength)] ?? base;
      const pluck = Math.min(1, inNote / 400) * Math.exp(-4 * seconds) * Math.sin(2 * Math.PI * note * seconds);
      const drone = Math.sin((2 * Math.PI * base * at) / SAMPLE_RATE);
      const edge = Math.min(1, at / FADE, (total - at) / FADE);
      samples[CHANNELS * index] = edge * (0.2 * pluck + 0.06 * drone);
      samples[CHANNELS * index + 1] = edge * (0.16 * pluck + 0.08 * drone);
    }
    return samples;
  };
}
