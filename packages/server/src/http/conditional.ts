import { hash } from 'node:crypto';
import type { Request, Response } from 'express';

/** Thrown to answer 304 without a body. */
export class NotModified extends Error {
  override name = 'NotModified';
}

export const etagOf = (body: string): string => `"${hash('sha256', body, 'base64url').slice(0, 27)}"`;

/** Sets the ETag of the response and returns whether If-None-Match contains it. */
export function setETag(request: Request, response: Response, body: string): boolean {
  const tag = etagOf(body);
  response.set('ETag', tag);
  const known = request
    .get('if-none-match')
    ?.split(',')
    .map((candidate) => candidate.trim().replace(/^W\//, ''));
  return known !== undefined && (known.includes(tag) || known.includes('*'));
}
