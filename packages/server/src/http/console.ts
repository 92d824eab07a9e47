import { join } from 'node:path';
import { Router, static as serveDirectory } from 'express';

const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; media-src 'self' blob:";

/** The built console. Its pages have addresses of their own, which all begin with the same document. */
export function serveConsole(directory: string): Router {
  const pageOf = join(directory, 'index.html');
  const isPage = (path: string) => !/^\/(api|worker|mcp|blobs)(\/|$)/.test(path) && !path.includes('.');
  return Router()
    .use(serveDirectory(directory, { index: false, immutable: true, maxAge: '1y', fallthrough: true }))
    .get('/{*page}', (request, response, next) => {
      if (!isPage(request.path)) return next();
      response.set({ 'Content-Security-Policy': POLICY, 'Cache-Control': 'no-cache' }).sendFile(pageOf);
    });
}
