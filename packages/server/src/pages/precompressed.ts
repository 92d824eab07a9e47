import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';
import { type Encoding, encodingFor } from '../http/compress.ts';

const COMPRESSIBLE = /\.(css|html|js|json|map|mjs|svg|wasm)$/;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const compress: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, BROTLI),
  gzip: (bytes) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
};

interface Variant {
  bytes: Buffer;
  eTag: string;
}

/** Constant content, compressed on the first request and then cached in memory. */
class Precompressed {
  readonly #load: () => Promise<Buffer>;
  readonly #variants = new Map<Encoding, Promise<Variant>>();

  constructor(load: () => Promise<Buffer>) {
    this.#load = load;
  }

  /** Sends the content in an encoding that the request accepts; returns false if it accepts none. */
  async send(request: Request, response: Response): Promise<boolean> {
    response.vary('Accept-Encoding');
    const encoding = encodingFor(request);
    if (encoding === undefined) return false;
    const { bytes, eTag } = await this.#variant(encoding);
    response.set({ 'Content-Encoding': encoding, ETag: eTag }).send(bytes);
    return true;
  }

  #variant(encoding: Encoding): Promise<Variant> {
    const known = this.#variants.get(encoding);
    if (known !== undefined) return known;
    const made = this.#compress(encoding);
    this.#variants.set(encoding, made);
    // A failed read is not cached.
    made.catch(() => this.#variants.delete(encoding));
    return made;
  }

  async #compress(encoding: Encoding): Promise<Variant> {
    const content = await this.#load();
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 27);
    return { bytes: await compress[encoding](content), eTag: `"${hash}-${encoding}"` };
  }
}

/** Serves a constant text, which is created on the first request. */
export function constantText(type: string, create: () => string): RequestHandler {
  let created: string | undefined;
  const text = () => {
    created ??= create();
    return created;
  };
  const content = new Precompressed(async () => Buffer.from(text()));
  return async (request, response) => {
    response.type(type);
    if (!(await content.send(request, response))) response.send(text());
  };
}

/**
 * Serves the compressible files that the directory contains at the call. Leaves other files, range requests and clients
 * without compression to the next handler.
 */
export function precompressedFiles(directory: string, cacheControl: string): RequestHandler {
  const files = new Map(
    compressibleFiles(directory).map((path) => [
      `/${relative(directory, path).split(sep).join('/')}`,
      { type: extname(path), content: new Precompressed(() => readFile(path)) },
    ]),
  );
  return async (request, response, next) => {
    const file = ['GET', 'HEAD'].includes(request.method) ? files.get(request.path) : undefined;
    if (file === undefined || request.headers.range !== undefined) return next();
    response.type(file.type).set('Cache-Control', cacheControl);
    if (!(await file.content.send(request, response))) next();
  };
}

/** Returns an empty list if the directory does not exist; the next handler then answers 404. */
function compressibleFiles(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && COMPRESSIBLE.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}
