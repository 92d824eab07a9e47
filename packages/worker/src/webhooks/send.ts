import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { LookupFunction } from 'node:net';
import { MAX_RESPONSE_EXCERPT, type WebhookOutcome, type WebhookRequest } from '@review/contract';
import { isOnThisHost } from '../provider-settings.ts';
import { isPrivate, PrivateAddress, publicLookup } from '../public-address.ts';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

interface SendOptions {
  /** Whether the URL may be on this host and use http. */
  allowsLoopback: boolean;
  lookup?: LookupFunction;
  timeoutMs?: number;
}

interface Answer {
  status: number;
  /** The beginning of the body. */
  text: string;
}

/** Sends a signed request to a webhook. Only a 2xx status is a success; redirects are not followed. */
export async function sendWebhook(request: WebhookRequest, options: SendOptions): Promise<WebhookOutcome> {
  const { deliveryId } = request;
  try {
    const { status, text } = await post(request, options);
    const error = status >= 200 && status < 300 ? null : refusal(status);
    return { deliveryId, responseStatus: status, responseExcerpt: text, error };
  } catch (error) {
    return { deliveryId, responseStatus: null, responseExcerpt: null, error: describe(error, options) };
  }
}

function refusal(status: number): string {
  const hint = status >= 300 && status < 400 ? ' Redirects are not followed.' : '';
  return `The webhook answered with status ${status}.${hint}`;
}

function post({ url: address, headers, body }: WebhookRequest, options: SendOptions): Promise<Answer> {
  const { allowsLoopback, lookup = publicLookup, timeoutMs = TIMEOUT_MS } = options;
  const url = new URL(address);
  const trusted = allowsLoopback && isOnThisHost(address);
  // A literal IP address never reaches the look-up, so it is checked here.
  if (!trusted && (url.protocol !== 'https:' || isPrivate(url.hostname))) throw new PrivateAddress();
  const open = url.protocol === 'https:' ? requestSecure : requestPlain;
  return new Promise((resolve, reject) => {
    const request = open(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'project-review-webhooks' },
      // A new connection each time, whose address is checked.
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
      ...(!trusted && { lookup }),
    });
    let answered = false;
    const fail = (error: Error) => !answered && reject(error);
    request.on('error', fail);
    request.on('close', () => fail(new Error('The connection was closed without an answer.')));
    request.on('response', (response) => {
      answered = true;
      const chunks: Buffer[] = [];
      let received = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        received += chunk.length;
        if (received >= MAX_ANSWER_BYTES) response.destroy();
      });
      // The status decides, even if the body breaks off.
      response.on('error', () => {});
      response.on('close', () => resolve({ status: response.statusCode ?? 0, text: excerptOf(Buffer.concat(chunks)) }));
    });
    request.end(body);
  });
}

const excerptOf = (bytes: Buffer) =>
  new TextDecoder().decode(bytes.subarray(0, MAX_RESPONSE_EXCERPT * 4)).slice(0, MAX_RESPONSE_EXCERPT);

function describe(error: unknown, { timeoutMs = TIMEOUT_MS }: SendOptions): string {
  if (error instanceof PrivateAddress) return 'The URL is not a public https address.';
  if (error instanceof Error && error.name === 'AbortError') return `No answer within ${timeoutMs / 1000} seconds.`;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
  return `The webhook cannot be reached: ${code}.`;
}
