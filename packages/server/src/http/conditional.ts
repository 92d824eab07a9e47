import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';

/** The caller has the answer already: 304, without a body. */
export class NotModified extends Error {
  override name = 'NotModified';
}

/** Names the state that an answer shows. */
export const etagOf = (answer: unknown): string =>
  `"${createHash('sha256').update(JSON.stringify(answer)).digest('base64url').slice(0, 27)}"`;

/** Tags the answer, and says whether the caller named that tag: what it would be sent, it has. */
export function isKnown(request: Request, response: Response, answer: unknown): boolean {
  const tag = etagOf(answer);
  response.set('ETag', tag);
  const known = request
    .get('if-none-match')
    ?.split(',')
    .map((candidate) => candidate.trim().replace(/^W\//, ''));
  return known !== undefined && (known.includes(tag) || known.includes('*'));
}
