import { createHmac, timingSafeEqual } from 'node:crypto';
import { ProblemError } from '../http/problem.ts';

export interface SignedRequest {
  method: 'GET' | 'PUT';
  path: string;
}

/** URLs that are a permission by themselves: for one method, one path, these parameters, until they expire. */
export class SignedUrls {
  readonly #publicUrl: string;
  readonly #key: Buffer;

  constructor(publicUrl: string, key: Buffer) {
    this.#publicUrl = publicUrl;
    this.#key = key;
  }

  sign(request: SignedRequest, parameters: Record<string, string>, expiresInSeconds: number): string {
    const query = new URLSearchParams({ ...parameters, expires: String(nowInSeconds() + expiresInSeconds) });
    query.set('signature', this.#signature(request, query).toString('base64url'));
    return `${this.#publicUrl}${request.path}?${query}`;
  }

  /** Does nothing for what `sign` made and is not expired; anything else is refused. */
  verify(request: SignedRequest, query: URLSearchParams): void {
    const expected = this.#signature(request, query);
    const [given, ...others] = query.getAll('signature').map((text) => Buffer.from(text, 'base64url'));
    const holds =
      given !== undefined &&
      others.length === 0 &&
      given.length === expected.length &&
      timingSafeEqual(given, expected) &&
      Number(query.get('expires')) > nowInSeconds();
    if (!holds) throw new ProblemError('INVALID_SIGNATURE');
  }

  /** Over every parameter there is: one that was added or doubled does not fit either. */
  #signature({ method, path }: SignedRequest, query: URLSearchParams): Buffer {
    const signed = new URLSearchParams([...query].filter(([name]) => name !== 'signature'));
    signed.sort();
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([method, path, ...signed]))
      .digest();
  }
}

export const nowInSeconds = (): number => Math.floor(Date.now() / 1000);
