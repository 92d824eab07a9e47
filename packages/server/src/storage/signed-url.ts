import { hmac, isMac, type Keys } from '../config/secrets.ts';
import { ProblemError } from '../request/problem.ts';

const SIGNATURE_BYTES = 32;

interface SignedRequest {
  method: 'GET' | 'PUT';
  path: string;
}

/** Presigned URLs: each permits one method on one path with these parameters until it expires. */
export class SignedUrls {
  readonly #publicUrl: string;
  readonly #keys: Keys;

  constructor(publicUrl: string, keys: Keys) {
    this.#publicUrl = publicUrl;
    this.#keys = keys;
  }

  sign(
    request: SignedRequest,
    parameters: Record<string, string>,
    expiresInSeconds: number,
    signedAt = new Date(),
  ): string {
    const expires = Math.floor(signedAt.getTime() / 1000) + expiresInSeconds;
    const query = new URLSearchParams({ ...parameters, expires: String(expires) });
    query.set('signature', hmac(this.#keys[0], signedText(request, query)).toString('base64url'));
    return `${this.#publicUrl}${request.path}?${query}`;
  }

  /** Throws INVALID_SIGNATURE unless `sign` made the URL and it has not expired. */
  verify(request: SignedRequest, query: URLSearchParams): void {
    const [given, ...others] = query.getAll('signature').map((text) => Buffer.from(text, 'base64url'));
    const isValid =
      given !== undefined &&
      others.length === 0 &&
      given.length === SIGNATURE_BYTES &&
      isMac(this.#keys, given, signedText(request, query)) &&
      Number(query.get('expires')) > nowInSeconds();
    if (!isValid) throw new ProblemError('INVALID_SIGNATURE');
  }
}

/** Covers all parameters, so that none can be added or repeated. */
function signedText({ method, path }: SignedRequest, query: URLSearchParams): string {
  const signed = new URLSearchParams([...query].filter(([name]) => name !== 'signature'));
  signed.sort();
  return JSON.stringify([method, path, ...signed]);
}

export const nowInSeconds = (): number => Math.floor(Date.now() / 1000);
