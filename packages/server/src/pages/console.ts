import { join } from 'node:path';
import { Router, static as serveDirectory } from 'express';
import type { Storage } from '../storage/storage.ts';
import { precompressedFiles } from './precompressed.ts';

/** The Content-Security-Policy of the console: allows this origin and the origin of presigned URLs. */
const policyFor = (storageOrigin: string): string =>
  [
    "default-src 'self'",
    // Decoders of compressed 3D files and images are WebAssembly. Eval of scripts stays forbidden.
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' blob: data: ${storageOrigin}`,
    `media-src 'self' blob: ${storageOrigin}`,
    // Textures inside a 3D file are read through blob URLs.
    `connect-src 'self' blob: ${storageOrigin}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Serves the built console. All paths of its pages answer with index.html. */
export function serveConsole(directory: string, storage: Pick<Storage, 'downloadUrl'>): Router {
  const indexPath = join(directory, 'index.html');
  const isPage = (path: string) => !/^\/(api|worker|mcp|blobs)(\/|$)/.test(path) && !path.includes('.');
  let policy: string | undefined;

  /** Reads the storage's origin from a presigned URL. If signing fails, the console must still load to show the error. */
  async function currentPolicy(): Promise<string> {
    if (policy !== undefined) return policy;
    try {
      const signed = await storage.downloadUrl('any-key', { name: 'any', mimeType: 'text/plain' }, 60);
      policy = policyFor(new URL(signed).origin);
      return policy;
    } catch {
      return policyFor("'self'");
    }
  }

  return Router({ caseSensitive: true, strict: true })
    .get('/index.html', (_request, response) => response.redirect(308, '/'))
    .use(precompressedFiles(directory, 'public, max-age=31536000, immutable'))
    .use(serveDirectory(directory, { index: false, immutable: true, maxAge: '1y', fallthrough: true }))
    .get('/{*page}', async (request, response, next) => {
      if (!isPage(request.path)) return next();
      response
        .set({
          'Content-Security-Policy': await currentPolicy(),
          'Cache-Control': 'no-cache',
          // The URL of a page can contain a prompt or a key.
          'Referrer-Policy': 'no-referrer',
        })
        .sendFile(indexPath);
    });
}
