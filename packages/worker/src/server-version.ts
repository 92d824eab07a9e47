import { WORKER_API_VERSION, WORKER_API_VERSION_HEADER } from '@review/contract';

/** So many answers in succession have to come from a current server: behind a proxy, servers of two releases may answer in turns. */
const ENOUGH = 3;

/** A server that is older than this worker refused a call, which may be one that it does not know. */
export class OlderServerError extends Error {
  override name = 'OlderServerError';
  override message = 'The server is older than this worker and refused its report.';
}

interface Options {
  onChange: (isOlder: boolean) => void;
  fetch?: typeof fetch;
}

/** Reads from every answer of the server whether that is older than this worker, as after a roll-back. */
export class ServerVersion {
  /** The current answers that are missing until the server counts as upgraded. */
  #missing = 0;
  readonly #options: Required<Options>;

  constructor(options: Options) {
    this.#options = { fetch, ...options };
  }

  /** True from the answer of an older server until enough others have followed. */
  get isOlder(): boolean {
    return this.#missing > 0;
  }

  /** Like the global `fetch`, but throws OlderServerError if an older server does not know the call or its body. */
  readonly fetch: typeof fetch = async (...request) => {
    const response = await this.#options.fetch(...request);
    const { status, headers } = response;
    const version = versionOf(response);
    if (version === null) return response;
    const isOlder = version < WORKER_API_VERSION;
    this.#note(isOlder);
    const isUnknownRoute = status === 404 && !headers.has(WORKER_API_VERSION_HEADER);
    if (isOlder && (status === 400 || isUnknownRoute)) {
      await response.body?.cancel();
      throw new OlderServerError();
    }
    return response;
  };

  #note(isOlder: boolean): void {
    const before = this.isOlder;
    this.#missing = isOlder ? ENOUGH : Math.max(0, this.#missing - 1);
    if (this.isOlder !== before) this.#options.onChange(this.isOlder);
  }
}

/** Returns 0 for a server from before the header, and null for an answer that may come from a proxy. */
function versionOf({ ok, status, headers }: Response): number | null {
  const version = headers.get(WORKER_API_VERSION_HEADER);
  if (version !== null) return Number(version);
  const type = headers.get('content-type') ?? '';
  if (ok) return type.startsWith('text/html') ? null : 0;
  return status < 500 && status !== 429 && type.startsWith('application/problem+json') ? 0 : null;
}
