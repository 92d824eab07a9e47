import { hash, randomUUID } from 'node:crypto';
import { type Route, takesIdempotencyKey } from '@review/contract';
import type { Request } from 'express';
import { type Moment, timeOf } from '../db/clock.ts';
import { type Param, type Params, prepared } from '../db/prepared.ts';
import type { Database } from '../db/schema.ts';
import { secondsFromNow } from '../db/time.ts';
import type { Deps } from '../deps.ts';
import type { Caller } from '../request/caller.ts';
import { ProblemError } from '../request/problem.ts';
import { type Outbox, type Write, writeWithEvents } from '../rooms/events/outbox.ts';

const KEPT_SECONDS = 24 * 60 * 60;
/** A claim without a stored response expires after this time: its request crashed. */
const CLAIM_SECONDS = 60;

/** The execution of one request: exactly once per idempotency key, or without that guarantee where there is no key. */
export interface Attempt {
  /** True if an earlier request with the key succeeded. `write` then returns the stored answer. */
  replayed: boolean;
  /** Runs the work and stores its answer under the key, and its events, in one transaction. */
  write: Write;
  /** Releases the key if nothing was written under it. */
  release(): Promise<void>;
}

/** Returns the Idempotency-Key of a request, or null if it has none or the route takes none. */
export function idempotencyKey(request: Request, route: Route): string | null {
  const header = takesIdempotencyKey(route) ? request.get('idempotency-key') : undefined;
  if (header === undefined) return null;
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  if (key.length < 1 || key.length > 255) {
    throw new ProblemError('INVALID_REQUEST', { detail: 'An Idempotency-Key has 1 to 255 characters.' });
  }
  return key;
}

/** Claims the key for this request, or returns the stored result of the first request with it. */
export async function attempt(
  outbox: Outbox & Pick<Deps, 'clock'>,
  caller: Caller,
  key: string | null,
  request: { method: string; path: string; body: unknown },
): Promise<Attempt> {
  const { db, clock } = outbox;
  if (key === null) return unkeyed(outbox, caller);
  const scope = digest([caller.credentialId, request.method, request.path, key]);
  const fingerprint = digest(canonical(request.body));
  const claim = randomUUID();

  await deleteStale(db, { scope, keptSince: clock(-KEPT_SECONDS), heldSince: clock(-CLAIM_SECONDS) });
  if (await insertClaim(db, { scope, fingerprint, claim, now: clock() })) return claimed(outbox, caller, scope, claim);

  const first = await findKey(db, scope);
  if (first !== undefined && first.fingerprint !== fingerprint) throw new ProblemError('IDEMPOTENCY_KEY_REUSED');
  if (first === undefined || first.response === null) throw inProgress();
  return replayed(first.response);
}

/** An attempt without an idempotency key. */
export const unkeyed = (outbox: Outbox, caller: Caller): Attempt => ({
  replayed: false,
  write: (work) => writeWithEvents(outbox, caller.userId, work),
  release: async () => {},
});

/** For operations whose handler gets no `write`. */
export const NOT_WRITING: Attempt = {
  replayed: false,
  write: async () => {
    throw new Error('This operation does not write.');
  },
  release: async () => {},
};

const replayed = (response: string): Attempt => ({
  replayed: true,
  write: async () => JSON.parse(response),
  release: async () => {},
});

function claimed(outbox: Outbox, caller: Caller, scope: string, claim: string): Attempt {
  let written = false;
  return {
    replayed: false,
    write: (work) =>
      writeWithEvents(outbox, caller.userId, async (trx) => {
        const outcome = await work(trx);
        const completed = await storeResponse(trx, { scope, claim, response: JSON.stringify(outcome.answer ?? null) });
        // The claim expired and another attempt took it over: this one is rolled back.
        if (!completed) throw inProgress();
        written = true;
        return outcome;
      }),
    async release() {
      if (written) return;
      await deleteClaim(outbox.db, { scope, claim });
    },
  };
}

export async function deleteExpiredKeys(db: Database): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('claimed_at', '<', secondsFromNow(-KEPT_SECONDS)).execute();
}

export async function countExpiredKeys(db: Database): Promise<number> {
  const { count } = await db
    .selectFrom('idempotency_keys')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('claimed_at', '<', secondsFromNow(-KEPT_SECONDS))
    .executeTakeFirstOrThrow();
  return count;
}

const deleteStale = prepared.run(
  (db, { scope, keptSince, heldSince }: Params<{ scope: string; keptSince: Moment; heldSince: Moment }>) =>
    db
      .deleteFrom('idempotency_keys')
      .where('scope', '=', scope)
      .where((eb) =>
        eb.or([
          eb('claimed_at', '<', timeOf(db, keptSince)),
          eb.and([eb('response', 'is', null), eb('claimed_at', '<', timeOf(db, heldSince))]),
        ]),
      ),
);

interface Claim {
  scope: string;
  claim: string;
}

const insertClaim = prepared.changed((db, { now, ...key }: Params<Claim & { fingerprint: string; now: Moment }>) =>
  db
    .insertInto('idempotency_keys')
    .values({ ...key, claimed_at: timeOf(db, now), response: null })
    .onConflict((conflict) => conflict.column('scope').doNothing()),
);

const findKey = prepared.first((db, scope: Param<string>) =>
  db.selectFrom('idempotency_keys').selectAll().where('scope', '=', scope),
);

const storeResponse = prepared.changed((db, { scope, claim, response }: Params<Claim & { response: string }>) =>
  db.updateTable('idempotency_keys').set({ response }).where('scope', '=', scope).where('claim', '=', claim),
);

const deleteClaim = prepared.run((db, { scope, claim }: Params<Claim>) =>
  db.deleteFrom('idempotency_keys').where('scope', '=', scope).where('claim', '=', claim).where('response', 'is', null),
);

const inProgress = () => new ProblemError('IDEMPOTENCY_IN_PROGRESS', { headers: { 'Retry-After': '1' } });

const digest = (value: unknown): string => hash('sha256', JSON.stringify(value));

/** Makes the fingerprint independent of the order of fields. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, entry]) => [key, canonical(entry)]);
}
