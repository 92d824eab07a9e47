import type { UploadPart } from '@review/contract';
import { openPath } from '#platform';

export type Stream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** The bytes to upload: a path (in Node), a Blob or File, an array, or a stream. */
export type Source = string | Blob | Uint8Array<ArrayBuffer> | Stream;

interface Opened {
  bytes: Blob | Stream;
  size: number;
  name?: string | undefined;
  mimeType?: string | undefined;
}

/** Opens a source and returns its bytes and metadata. A stream needs its size. */
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
  if (said === undefined) throw new TypeError('The size of a stream is unknown: set `size`.');
  return { bytes: source, size: said };
}

export interface Piece {
  part: UploadPart;
  bytes: Blob | Uint8Array<ArrayBuffer>;
}

/** Yields the bytes of each part, and skips the parts in `there`. */
export async function* cutIntoParts(
  bytes: Blob | Stream,
  parts: UploadPart[],
  there: ReadonlySet<number>,
): AsyncGenerator<Piece, void, void> {
  const source = bytes instanceof Blob ? fromBlob(bytes) : fromStream(bytes);
  try {
    for (const part of parts) {
      const taken = await source.take(part.size);
      if (!there.has(part.partNumber)) yield { part, bytes: taken };
    }
    if (await source.hasMore())
      throw new RangeError('The stream has more bytes than its `size`. Set `size` to its exact length.');
  } finally {
    await source.close();
  }
}

interface ByteSource {
  take(size: number): Promise<Piece['bytes']>;
  hasMore(): Promise<boolean>;
  close(): Promise<unknown>;
}

function fromBlob(blob: Blob): ByteSource {
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

/** Holds one part of a stream in memory, so that it can be retried. */
function fromStream(stream: Stream): ByteSource {
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
        if (!(await refill())) throw new RangeError(`The stream ended after ${read} bytes, fewer than its \`size\`.`);
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

/** Iterates a stream, also in browsers without `ReadableStream[Symbol.asyncIterator]`. */
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
