import type { Hash } from './platform.ts';

const BLOCK = 64;
const FRACTION = 2 ** 32;
const fractionOf = (root: number) => Math.floor((root % 1) * FRACTION) | 0;
const PRIMES = Array.from({ length: 310 }, (_, index) => index + 2).filter((number) => {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false;
  return true;
});
const K = Int32Array.from(PRIMES.slice(0, 64), (prime) => fractionOf(Math.cbrt(prime)));

/** SHA-256 of bytes as they come: browsers have none that takes a stream, and none at all without HTTPS. */
export function sha256(): Hash {
  const state = Int32Array.from(PRIMES.slice(0, 8), (prime) => fractionOf(Math.sqrt(prime)));
  const words = new Int32Array(BLOCK);
  const block = new Uint8Array(BLOCK);
  const view = new DataView(block.buffer);
  let filled = 0;
  let total = 0;

  function update(bytes: Uint8Array): void {
    total += bytes.length;
    for (let from = 0; from < bytes.length; ) {
      const some = bytes.subarray(from, from + BLOCK - filled);
      block.set(some, filled);
      filled += some.length;
      from += some.length;
      if (filled === BLOCK) compress();
    }
  }

  function hex(): string {
    const bits = total * 8;
    block[filled++] = 0x80;
    if (filled > BLOCK - 8) {
      block.fill(0, filled);
      compress();
    }
    block.fill(0, filled);
    view.setUint32(BLOCK - 8, Math.floor(bits / FRACTION));
    view.setUint32(BLOCK - 4, bits >>> 0);
    compress();
    return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  function compress(): void {
    const at = (index: number) => words[index] ?? 0;
    for (let index = 0; index < 16; index++) words[index] = view.getInt32(index * 4);
    for (let index = 16; index < 64; index++) {
      const early = at(index - 15);
      const late = at(index - 2);
      const s0 = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
      const s1 = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
      words[index] = (at(index - 16) + s0 + at(index - 7) + s1) | 0;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let index = 0; index < 64; index++) {
      const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      const first = (h + s1 + ((e & f) ^ (~e & g)) + (K[index] ?? 0) + at(index)) | 0;
      const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) state[index] = ((state[index] ?? 0) + value) | 0;
    filled = 0;
  }

  return { update, hex };
}

const turned = (word: number, by: number) => (word >>> by) | (word << (32 - by));
