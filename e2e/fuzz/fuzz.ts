import fc from 'fast-check';
import type { Service } from '../service.ts';
import { faultOf } from './answers.ts';
import type { Operation } from './operations.ts';
import type { Records } from './records.ts';
import { type FuzzedRequest, invalidRequests, validRequests } from './requests.ts';

/** Requests that run at the same time, so that they also race. */
const PARALLEL = 8;

const MAX_FAULT = 2000;

interface Tally {
  succeeded: number;
  faults: string[];
}

/** FUZZ_SEED repeats a run. */
export const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** Sends that many valid and as many invalid requests of an operation, and compares the answers with the document. */
export async function fuzz(service: Service, operation: Operation, records: Records, count: number): Promise<Tally> {
  const requests = [validRequests, invalidRequests].flatMap((requestsOf) =>
    fc.sample(requestsOf(operation, records), { numRuns: count, seed }),
  );
  const tally: Tally = { succeeded: 0, faults: [] };
  const queue = requests.values();
  const sendAll = async () => {
    for (const request of queue) {
      const fault = await send(service, operation, request, tally);
      if (fault !== null) tally.faults.push(`${fault}\n  ${JSON.stringify(request)}`.slice(0, MAX_FAULT));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, sendAll));
  return tally;
}

async function send(
  { url, key }: Service,
  operation: Operation,
  { method, path, headers, body, expected }: FuzzedRequest,
  tally: Tally,
): Promise<string | null> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  });
  if (answer.ok) tally.succeeded += 1;
  return faultOf(operation, expected, answer);
}
