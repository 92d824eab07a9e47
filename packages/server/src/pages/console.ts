import { join } from 'node:path';
import { Router, static as serveDirectory } from 'express';
import type { Storage } from '../storage/storage.ts';
import { precompressedFiles } from './precompressed.ts';

/** Code and styles come from here alone; besides this address the page speaks only with where signed URLs lead. */
const policyFor = (storageOrigin: string): string =>
  [
    "default-src 'self'",
    // Decoders of compressed 3D files and pictures are WebAssembly; script made of text stays forbidden.
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' blob: data: ${storageOrigin}`,
    `media-src 'self' blob: ${storageOrigin}`,
    // Textures inside a 3D file are read through blob addresses.
    `connect-src 'self' blob: ${storageOrigin}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

/** The built console. Its pages have addresses of their own, which all begin with the same document. */
export function serveConsole(directory: string, storage: Pick<Storage, 'downloadUrl'>): Router {
  const pageOf = join(directory, 'index.html');
  const isPage = (path: string) => !/^\/(api|worker|mcp|blobs)(\/|$)/.test(path) && !path.includes('.');
  let policy: string | undefined;

  /** Signing an address asks nobody; without credentials of the storage the page can at least say what is wrong. */
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
          // Addresses of pages can hold a prompt or a key.
          'Referrer-Policy': 'no-referrer',
        })
        .sendFile(pageOf);
    });
}
