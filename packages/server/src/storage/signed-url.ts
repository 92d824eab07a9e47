import { hmac, isMac, type Keys } from '../config/secrets.ts';
import { ProblemError } from '../request/problem.ts';

const SIGNATURE_BYTES = 32;

interface SignedRequest {
  method: 'GET' | 'PUT';
  path: string;
}

/** URLs that are a permission by themselves: for one method, one path, these parameters, until they expire. */
export class SignedUrls {
  readonly #publicUrl: string;
  readonly #keys: Keys;

  constructor(publicUrl: string, keys: Keys) {
    this.#publicUrl = publicUrl;
    this.#keys = keys;
  }

  sign(request: SignedRequest, parameters: Record<string, string>, expiresInSeconds: number): string {
    const query = new URLSearchParams({ ...parameters, expires: String(nowInSeconds() + expiresInSeconds) });
    query.set('signature', hmac(this.#keys[0], signedText(request, query)).toString('base64url'));
    return `${this.#publicUrl}${request.path}?${query}`;
  }

  /** Does nothing for what `sign` made and is not expired; anything else is refused. */
  verify(request: SignedRequest, query: URLSearchParams): void {
    const [given, ...others] = query.getAll('signature').map((text) => Buffer.from(text, 'base64url'));
    const holds =
      given !== undefined &&
      others.length === 0 &&
      given.length === SIGNATURE_BYTES &&
      isMac(this.#keys, given, signedText(request, query)) &&
      Number(query.get('expires')) > nowInSeconds();
    if (!holds) throw new ProblemError('INVALID_SIGNATURE');
  }
}

/** Over every parameter there is: one that was added or doubled does not fit either. */
function signedText({ method, path }: SignedRequest, query: URLSearchParams): string {
  const signed = new URLSearchParams([...query].filter(([name]) => name !== 'signature'));
  signed.sort();
  return JSON.stringify([method, path, ...signed]);
}

export const nowInSeconds = (): number => Math.floor(Date.now() / 1000);
