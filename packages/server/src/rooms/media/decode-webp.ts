import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

export interface Pixels {
  width: number;
  height: number;
  /** Red, green, blue and alpha of each pixel, row by row. */
  rgba: Uint8Array;
}

/** More than any rendition has: a filmstrip has at most 1600 x 1600 pixels, and so has a page. */
const MAX_PIXELS = 4_000_000;
const MAX_MS = 5000;

/** A text, because the bundle has no file for a thread. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { width, height, data } = require(workerData.decoder).decode(workerData.webp);
const rgba = new Uint8Array(data.buffer);
parentPort.postMessage({ width, height, rgba }, [rgba.buffer]);
`;

/**
 * Decodes a rendition. The program that made it has read foreign content, so that its output is not trusted: WebAssembly
 * decodes it, in a thread that ends with it.
 */
export async function decodeWebp(webp: Buffer): Promise<Pixels> {
  const { width, height } = sizeOf(webp);
  if (width * height > MAX_PIXELS) throw new Error(`The picture has ${width} x ${height} pixels, too many to decode.`);
  const decoder = fileURLToPath(import.meta.resolve('@cwasm/webp'));
  const thread = new Worker(PROGRAM, { eval: true, workerData: { decoder, webp }, env: {}, execArgv: [] });
  const timeout = AbortSignal.timeout(MAX_MS);
  try {
    return await new Promise<Pixels>((resolve, reject) => {
      thread.once('message', resolve);
      thread.once('error', reject);
      timeout.addEventListener('abort', () => reject(timeout.reason), { once: true });
    });
  } finally {
    await thread.terminate();
  }
}

/** Reads the size in the header, so that a small file with a huge picture is refused. The decoder refuses any other size. */
function sizeOf(webp: Buffer): { width: number; height: number } {
  const chunk = webp.length < 30 ? '' : webp.toString('latin1', 8, 16);
  switch (chunk) {
    case 'WEBPVP8X':
      return { width: webp.readUIntLE(24, 3) + 1, height: webp.readUIntLE(27, 3) + 1 };
    case 'WEBPVP8 ':
      return { width: webp.readUInt16LE(26) & 0x3fff, height: webp.readUInt16LE(28) & 0x3fff };
    case 'WEBPVP8L': {
      const bits = webp.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    default:
      throw new Error('The picture is no WebP.');
  }
}
