import type { UploadPart } from '@review/contract';
import { openPath } from '#platform';

export type Stream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** What can be uploaded: a path (in Node), a Blob or File, bytes, or a stream. */
export type Source = string | Blob | Uint8Array<ArrayBuffer> | Stream;

interface Opened {
  bytes: Blob | Stream;
  size: number;
  name?: string | undefined;
  mimeType?: string | undefined;
}

/** The bytes to upload, and what is known of them. */
export async function openSource(source: Source, said: number | undefined): Promise<Opened> {
  if (typeof source === 'string') {
    const { blob, name } = await openPath(source);
    return { bytes: blob, size: blob.size, name };
  }
  if (source instanceof Uint8Array) return { bytes: new Blob([source]), size: source.byteLength };
  if (source instanceof Blob) {
    const name = 'name' in source && typeof source.name === 'string' ? source.name : undefined;
    return { bytes: source, size: source.size, name, mimeType: source.type || undefined };
  }
  if (said === undefined) throw new TypeError('A stream does not know its size: say `size`.');
  return { bytes: source, size: said };
}

/** A part to send, with its bytes. */
export interface Piece {
  part: UploadPart;
  bytes: Blob | Uint8Array<ArrayBuffer>;
}

/** Cuts the bytes as the parts say, one at a time; those that are there already are passed over. */
export async function* cut(
  bytes: Blob | Stream,
  parts: UploadPart[],
  there: ReadonlySet<number>,
): AsyncGenerator<Piece, void, void> {
  const pile = bytes instanceof Blob ? blobPile(bytes) : streamPile(bytes);
  try {
    for (const part of parts) {
      const taken = await pile.take(part.size);
      if (!there.has(part.partNumber)) yield { part, bytes: taken };
    }
    if (await pile.hasMore()) throw new RangeError('The stream has more bytes than its `size`.');
  } finally {
    await pile.close();
  }
}

interface Pile {
  take(size: number): Promise<Piece['bytes']>;
  hasMore(): Promise<boolean>;
  close(): Promise<unknown>;
}

function blobPile(blob: Blob): Pile {
  let from = 0;
  return {
    async take(size) {
      from += size;
      return blob.slice(from - size, from);
    },
    hasMore: async () => from < blob.size,
    close: async () => {},
  };
}

/** A part of a stream is held in memory, so that it can be sent again. */
function streamPile(stream: Stream): Pile {
  const chunks = chunksOf(stream);
  let rest = new Uint8Array();
  let read = 0;
  const refill = async () => {
    while (rest.byteLength === 0) {
      const next = await chunks.next();
      if (next.done) return false;
      rest = new Uint8Array(next.value);
    }
    return true;
  };
  return {
    async take(size) {
      const taken = new Uint8Array(size);
      for (let filled = 0; filled < size; ) {
        if (!(await refill())) throw new RangeError(`The stream ended after ${read} bytes: fewer than its \`size\`.`);
        const some = rest.subarray(0, size - filled);
        taken.set(some, filled);
        filled += some.byteLength;
        read += some.byteLength;
        rest = rest.subarray(some.byteLength);
      }
      return taken;
    },
    hasMore: refill,
    close: () => chunks.return(),
  };
}

/** Not every browser can iterate a stream by itself. */
export async function* chunksOf(stream: Stream): AsyncGenerator<Uint8Array, void, void> {
  if (!('getReader' in stream)) return yield* stream;
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
