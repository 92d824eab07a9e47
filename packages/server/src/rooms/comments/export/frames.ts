import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import type { Filmstrip, Media, MediaKind } from '@review/contract';
import { parseJson } from '../../../db/json.ts';
import type { Storage } from '../../../storage/storage.ts';
import { decodeWebp, type Pixels } from '../../media/decode-webp.ts';
import type { StoredRendition } from '../../media/queries.ts';
import type { ExportedComment } from './exported.ts';

/** A picture for a PDF: rows of RGB, each after the number of its PNG filter, deflated. */
export interface Frame {
  width: number;
  height: number;
  data: Buffer;
  /** The time of the picture in milliseconds; null unless it is from a filmstrip. */
  at: number | null;
}

/** A page has up to 1600 x 1600 pixels, and each is in the document once. */
export const MAX_PAGES = 20;

/**
 * Finds the pictures of comments among the renditions of a file. The same object is returned for the same picture. A
 * rendition is decoded when a comment first needs it.
 */
export class Frames {
  readonly #kind: MediaKind | null;
  readonly #durationMs: number;
  readonly #renditions: readonly StoredRendition[];
  readonly #storage: Pick<Storage, 'read'>;
  readonly #decoded = new Map<string, Promise<Pixels>>();
  readonly #frames = new Map<string, Promise<Frame>>();
  readonly #maxPages: number;
  #pages = 0;
  #isPageLeftOut = false;

  constructor(
    media: Media | null,
    renditions: readonly StoredRendition[],
    storage: Pick<Storage, 'read'>,
    maxPages = MAX_PAGES,
  ) {
    this.#maxPages = maxPages;
    this.#kind = media?.kind ?? null;
    this.#durationMs = media?.durationMs ?? 0;
    this.#renditions = renditions;
    this.#storage = storage;
  }

  /** Returns the picture of a comment; null if there is none. Throws if it cannot be read. */
  async find({ anchor, drawn }: Pick<ExportedComment, 'anchor' | 'drawn'>): Promise<Frame | null> {
    if (this.#kind === 'VIDEO' && anchor !== null) return this.#tileAt(anchor);
    // All comments are on the same picture, which only helps with a drawing.
    if (this.#kind === 'IMAGE' && drawn) return this.#whole(this.#rendition('POSTER'));
    if (this.#kind === 'DOCUMENT' && anchor !== null) return this.#page(anchor);
    return null;
  }

  /** Whether a page has no picture because of the maximum. */
  get isPageLeftOut(): boolean {
    return this.#isPageLeftOut;
  }

  #rendition = (kind: StoredRendition['kind'], variant?: number) =>
    this.#renditions.find((each) => each.kind === kind && (variant === undefined || each.variant === variant));

  async #tileAt(anchor: number): Promise<Frame | null> {
    const strip = this.#rendition('FILMSTRIP');
    const grid = parseJson<Filmstrip>(strip?.filmstrip ?? null);
    if (strip === undefined || grid === null) return null;
    const { columns, rows, intervalMs } = grid;
    const count = Math.min(columns * rows, Math.max(1, Math.ceil(this.#durationMs / intervalMs)));
    const index = Math.min(Math.round(anchor / intervalMs), count - 1);
    return this.#frame(`${strip.storage_key} ${index}`, async () => {
      const pixels = await this.#pixels(strip);
      const [width, height] = [Math.floor(pixels.width / columns), Math.floor(pixels.height / rows)];
      const [left, top] = [(index % columns) * width, Math.floor(index / columns) * height];
      return { ...(await frameOf(pixels, { left, top, width, height })), at: index * intervalMs };
    });
  }

  async #page(page: number): Promise<Frame | null> {
    const rendition = this.#rendition('PAGE', page) ?? (page === 1 ? this.#rendition('POSTER') : undefined);
    if (rendition === undefined) return null;
    if (!this.#frames.has(rendition.storage_key)) {
      this.#isPageLeftOut ||= this.#pages >= this.#maxPages;
      if (this.#pages >= this.#maxPages) return null;
      this.#pages += 1;
    }
    return this.#whole(rendition);
  }

  async #whole(rendition: StoredRendition | undefined): Promise<Frame | null> {
    if (rendition === undefined) return null;
    return this.#frame(rendition.storage_key, async () => {
      const pixels = await this.#pixels(rendition);
      const { width, height } = pixels;
      this.#decoded.delete(rendition.storage_key);
      return { ...(await frameOf(pixels, { left: 0, top: 0, width, height })), at: null };
    });
  }

  #frame = (key: string, make: () => Promise<Frame>) => remembered(this.#frames, key, make);

  #pixels = ({ storage_key: key }: StoredRendition) =>
    remembered(this.#decoded, key, async () => decodeWebp(await buffer(await this.#storage.read(key))));
}

function remembered<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const found = known.get(key) ?? make();
  known.set(key, found);
  return found;
}

const deflated = promisify<Buffer, Buffer>(deflate);

/** The PNG filter that stores the difference to the pixel on the left. */
const SUB = 1;

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Cuts a box out of a picture, on white. */
async function frameOf(picture: Pixels, { left, top, width, height }: Box): Promise<Omit<Frame, 'at'>> {
  const rows = Buffer.alloc(height * (1 + width * 3));
  let to = 0;
  for (let y = 0; y < height; y++) {
    rows[to++] = SUB;
    let from = ((top + y) * picture.width + left) * 4;
    const before = [0, 0, 0];
    for (let x = 0; x < width; x++, from += 4) {
      const alpha = picture.rgba[from + 3] ?? 255;
      for (let channel = 0; channel < 3; channel++) {
        const value = Math.round(((picture.rgba[from + channel] ?? 0) * alpha) / 255) + 255 - alpha;
        rows[to++] = value - (before[channel] ?? 0);
        before[channel] = value;
      }
    }
  }
  return { width, height, data: await deflated(rows) };
}
