import { createWriteStream } from 'node:fs';
import { get as getPlain, type IncomingMessage } from 'node:http';
import { get as getSecure } from 'node:https';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { diskError } from '../disk-errors.ts';
import { isOnThisHost } from '../provider-settings.ts';
import { isPrivate, PrivateAddress, publicLookup } from '../public-address.ts';
import { StepError } from '../step-error.ts';
import type { Family } from './family.ts';
import { type Refusal, toStepError, type Vendor } from './refusal.ts';

export interface Result {
  url: string;
  path: string;
  signal: AbortSignal;
  onProgress: (fraction: number) => void;
  /** Headers with the provider's key, for results that need it. Sent only to this origin. */
  key?: { origin: string; headers: Record<string, string> };
}

const MAX_BYTES = 4 * 1024 ** 3;
const MAX_REDIRECTS = 5;

const Located = z.object({ url: z.string() });

/** Returns the `download` of an adapter whose output is only a URL. */
export const downloadFrom =
  (vendor: Vendor & { baseUrl: string }): Family['download'] =>
  ({ output, path, signal, onProgress }) =>
    downloadResult(vendor, { url: Located.parse(output).url, path, signal, onProgress });

/** Downloads a result to the path. The URL comes from the provider and is not trusted: see `isTrusted`. */
export async function downloadResult(
  vendor: Vendor & { baseUrl: string },
  result: Result,
  maxBytes = MAX_BYTES,
): Promise<void> {
  const response = await followRedirects(vendor, result, URL.parse(result.url), MAX_REDIRECTS);
  const expected = Number(response.headers['content-length'] ?? Number.NaN);
  const refusal = refusalIn(response) ?? (expected > maxBytes ? TOO_LARGE : null);
  if (refusal !== null) {
    response.destroy();
    throw toStepError(vendor, refusal);
  }
  let received = 0;
  const counted = new Transform({
    transform(bytes: Buffer, _encoding, done) {
      received += bytes.length;
      if (Number.isFinite(expected)) result.onProgress(received / expected);
      done(received > maxBytes ? toStepError(vendor, TOO_LARGE) : null, bytes);
    },
  });
  await pipeline(response, counted, createWriteStream(result.path), { signal: result.signal }).catch(
    (error: unknown) => {
      if (error instanceof StepError) throw error;
      throw diskError(error) ?? toStepError(vendor, { type: 'TRANSIENT', words: 'the download broke off.' });
    },
  );
}

const TOO_LARGE: Refusal = { type: 'PROVIDER_FAILED', words: 'its result is too large.' };

function refusalIn({ statusCode = 0, headers }: IncomingMessage): Refusal | null {
  if ([401, 403, 404, 410].includes(statusCode)) return { type: 'RESULT_EXPIRED' };
  if (statusCode !== 200) return { type: 'TRANSIENT', words: `the result URL answered ${statusCode}.` };
  if (/^(text\/(html|xml)|application\/([\w.-]+\+)?(json|xml))\b/.test(headers['content-type'] ?? '')) {
    return { type: 'PROVIDER_FAILED', words: 'it sent a web page or JSON instead of the result.' };
  }
  return null;
}

async function followRedirects(
  vendor: Vendor & { baseUrl: string },
  result: Result,
  url: URL | null,
  redirects: number,
): Promise<IncomingMessage> {
  if (url === null) throw forbiddenUrlError(vendor);
  const trusted = isTrusted(url, vendor.baseUrl);
  // A literal IP address never reaches `publicLookup`, so it is checked here.
  const hidden = url.protocol !== 'https:' || isPrivate(url.hostname);
  if (!trusted && hidden) throw forbiddenUrlError(vendor);
  const response = await openUrl(url, result, trusted).catch((error: unknown) => {
    if (error instanceof PrivateAddress) throw forbiddenUrlError(vendor);
    throw toStepError(vendor, { type: 'TRANSIENT', words: 'its result URL cannot be reached.' });
  });
  const { statusCode = 0, headers } = response;
  if (statusCode < 300 || statusCode >= 400 || headers.location === undefined) return response;
  response.destroy();
  if (redirects === 0)
    throw toStepError(vendor, { type: 'PROVIDER_FAILED', words: 'its result URL redirects too often.' });
  return followRedirects(vendor, result, URL.parse(headers.location, url.href), redirects - 1);
}

/** Whether the URL has the origin of the configured provider, which may be in a private network; on a loopback host any port counts. */
export const isTrusted = (url: URL, baseUrl: string): boolean =>
  url.origin === URL.parse(baseUrl)?.origin || (isOnThisHost(baseUrl) && isOnThisHost(url.href));

function openUrl(url: URL, { key, signal }: Result, trusted: boolean): Promise<IncomingMessage> {
  const headers = key?.origin === url.origin ? key.headers : {};
  const get = url.protocol === 'https:' ? getSecure : getPlain;
  return new Promise((resolve, reject) => {
    const options = { headers, signal, timeout: 60_000, ...(!trusted && { lookup: publicLookup }) };
    const request = get(url, options, resolve);
    request.on('timeout', () => request.destroy(new Error('no data for 60 seconds')));
    request.on('error', reject);
  });
}

const forbiddenUrlError = ({ name }: Vendor) =>
  new StepError('PROVIDER_FAILED', `${name} returned a result URL that is not a public HTTPS address.`);
