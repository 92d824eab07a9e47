import type { Engine, Family, GenerationTask, OutputType, Provider } from '@review/contract';
import { type ExpressionBuilder, sql } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { type Moment, timeOf } from '../../db/clock.ts';
import { type Params, prepared } from '../../db/prepared.ts';
import { preparedTogether } from '../../db/prepared-together.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type Abilities, withAbility } from '../workers/abilities.ts';
import { lockGate } from './paused-families.ts';
import { OPEN } from './queries.ts';

interface Caps {
  slots: Record<OutputType, number>;
  familyCaps: Record<Family, number>;
}

export interface Holder {
  engine: Engine;
  /** The name of the worker, or of the dispatcher until it has started a workflow. */
  owner: string;
  leaseUntil: Moment;
  /** The abilities of the worker; for the dispatcher those of all living workers. */
  abilities: Abilities;
}

/**
 * Claims up to `limit` generations for an engine: first those with an expired lease, then queued ones for which slots are
 * free, in order of the oldest of each workspace and type. Locks the gate, so that the caps hold across processes.
 */
export async function takeTasks(
  db: Database,
  holder: Holder,
  caps: Caps,
  limit: number,
  now: Moment,
): Promise<GenerationTask[]> {
  // Most looks of a waiting worker find nothing, and need no lock.
  if (!(await hasUnheld(db, { now }))) return [];
  return inTransaction(db, async (trx) => {
    await lockGate(trx);
    const { lapsed, held, lines } = await readQueue(trx, { ...runnable(holder.abilities), now, limit });
    const expired = lapsed.map((row) => row.file_id);
    const waiting = await findStartable(trx, holder.abilities, caps, { held, lines }, limit - expired.length);
    const taken = [...expired, ...waiting];
    if (taken.length === 0) return [];
    const rows = await take(
      trx,
      { ...runnable(holder.abilities), taken, owner: holder.owner, leaseUntil: holder.leaseUntil, now },
      holder.engine,
    );
    return taken.flatMap((id) => rows.find((row) => row.fileId === id) ?? []);
  });
}

/** Whether any generation waits or has an expired lease. */
const hasUnheld = prepared.exists((db, { now }: Params<{ now: Moment }>) =>
  db
    .selectFrom('generations')
    .select('file_id')
    .where('status', '=', sql.lit('QUEUED'))
    .where('engine', 'is', null)
    .unionAll(
      db
        .selectFrom('generations')
        .select('file_id')
        .where('status', 'in', OPEN)
        .where('engine', 'is not', null)
        .where('lease_until', '<', timeOf(db, now)),
    )
    .limit(1),
);

interface Taken extends Runnable {
  taken: string[];
  owner: string;
  leaseUntil: Moment;
  now: Moment;
}

const take = prepared.all((db, { taken, owner, leaseUntil, now, ...abilities }: Params<Taken>, engine: Engine) =>
  db
    .updateTable('generations')
    .set((eb) => ({
      engine,
      // A workflow keeps its epoch when it is started again, because the first start may have succeeded.
      epoch:
        engine === 'temporal'
          ? eb
              .case()
              .when('engine', '=', 'temporal')
              .then(eb.ref('epoch'))
              .else(eb('epoch', '+', 1))
              .end()
          : eb('epoch', '+', 1),
      lease_owner: owner,
      lease_until: timeOf(db, leaseUntil),
      provider: providerFor(db, eb, abilities),
    }))
    .where('file_id', ...anyOf(db, taken))
    // It may have been canceled or renewed since it was selected.
    .where('status', 'in', OPEN)
    .where((eb) => eb.or([eb('engine', 'is', null), eb('lease_until', '<', timeOf(db, now))]))
    .returning(['file_id as fileId', 'family', 'epoch']),
);

interface Claimable extends Runnable {
  now: Moment;
  limit: number;
}

const isUnpaused = (eb: Builder) =>
  eb('family', 'not in', eb.selectFrom('paused_families').select('paused_families.family'));

const held = (db: Database) =>
  db
    .selectFrom('generations')
    .select((eb) => ['workspace_id', 'output_type', 'family', eb.fn.countAll<number>().as('count')])
    .where('status', 'in', OPEN)
    .where('engine', 'is not', null)
    .groupBy(['workspace_id', 'output_type', 'family']);

const readQueue = preparedTogether({
  /** Those with an expired lease, of any engine. Those of a paused family are continued if they run. */
  lapsed: (db, { now, limit, ...abilities }: Params<Claimable>) =>
    db
      .selectFrom('generations')
      .select('file_id')
      .where('status', 'in', OPEN)
      .where('engine', 'is not', null)
      .where('lease_until', '<', timeOf(db, now))
      .where((eb) => canRun(db, eb, abilities))
      .where((eb) => eb.or([eb('status', '=', 'RUNNING'), isUnpaused(eb)]))
      .orderBy('lease_until')
      .limit(limit),
  held: (db, _: Params<Claimable>) => held(db),
  /** The workspaces and types with waiting generations, in order of the oldest. */
  lines: (db, _: Params<Claimable>) =>
    db
      .selectFrom('generations')
      .select((eb) => ['workspace_id', 'output_type', eb.fn.min('queued_at').as('oldest')])
      .where('status', '=', 'QUEUED')
      .where('engine', 'is', null)
      .groupBy(['workspace_id', 'output_type'])
      .orderBy('oldest'),
});
const countByLine = prepared.all(held);

type Queue = Pick<Awaited<ReturnType<typeof readQueue>>, 'held' | 'lines'>;

/** Counts claimed generations by family, and by workspace and type. */
export async function countHeld(db: Database): Promise<{ ofFamily: Map<Family, number>; ofSlot: Map<string, number> }> {
  return sumUp(await countByLine(db));
}

function sumUp(held: Queue['held']) {
  const ofFamily = new Map<Family, number>();
  const ofSlot = new Map<string, number>();
  for (const row of held) {
    add(ofFamily, row.family, row.count);
    add(ofSlot, slotOf(row.workspace_id, row.output_type), row.count);
  }
  return { ofFamily, ofSlot };
}

export const slotOf = (workspaceId: string, outputType: OutputType): string => `${workspaceId} ${outputType}`;

const add = <Key>(counts: Map<Key, number>, key: Key, count: number) => counts.set(key, (counts.get(key) ?? 0) + count);

type Builder = ExpressionBuilder<Schema, 'generations'>;

/** The families by ability. */
interface Runnable {
  live: Family[];
  sandbox: Family[];
  /** The families without a live provider. */
  others: Family[];
}

function runnable(abilities: Abilities): Runnable {
  const sandbox = withAbility(abilities, 'sandbox');
  return { live: withAbility(abilities, 'live'), sandbox, others: [...sandbox, ...withAbility(abilities, 'refuse')] };
}

/** Matches generations that the abilities can run. Every worker has the sandbox, so that any can finish a sandbox run. */
const canRun = (db: Database, eb: Builder, { live, others }: Pick<Params<Runnable>, 'live' | 'others'>) =>
  eb.or([
    eb.and([eb('status', '=', 'RUNNING'), eb('provider', '=', 'sandbox')]),
    eb('family', ...anyOf(db, live)),
    eb.and([eb('family', ...anyOf(db, others)), eb('status', '=', 'QUEUED'), eb('promised', '!=', 'live')]),
  ]);

/** The provider to use. A running generation keeps its provider. */
const providerFor = (db: Database, eb: Builder, { live, sandbox }: Pick<Params<Runnable>, 'live' | 'sandbox'>) =>
  eb
    .case()
    .when('status', '=', 'RUNNING')
    .then(eb.ref('provider'))
    .when('family', ...anyOf(db, live))
    .then(eb.val<Provider | null>('live'))
    .when('family', ...anyOf(db, sandbox))
    .then(eb.val<Provider | null>('sandbox'))
    .else(eb.val<Provider | null>(null))
    .end();

interface Next extends Runnable {
  workspaceId: string;
  outputType: OutputType;
  /** The families whose cap is reached. */
  full: Family[];
  free: number;
}

const findNext = prepared.all((db, { workspaceId, outputType, full, free, ...abilities }: Params<Next>) =>
  db
    .selectFrom('generations')
    .select(['file_id', 'family'])
    .where('workspace_id', '=', workspaceId)
    .where('output_type', '=', outputType)
    .where('status', '=', 'QUEUED')
    .where('engine', 'is', null)
    .where((eb) => canRun(db, eb, abilities))
    .where((eb) => eb.not(eb('family', ...anyOf(db, full))))
    .where(isUnpaused)
    .orderBy('queued_at')
    .limit(free),
);

async function findStartable(
  trx: Writer,
  abilities: Abilities,
  { slots, familyCaps }: Caps,
  { held, lines }: Queue,
  limit: number,
): Promise<string[]> {
  const { ofFamily, ofSlot } = sumUp(held);
  const taken: string[] = [];
  for (const line of lines) {
    const free = Math.min(
      slots[line.output_type] - (ofSlot.get(slotOf(line.workspace_id, line.output_type)) ?? 0),
      limit - taken.length,
    );
    if (free <= 0) continue;
    const full = [...ofFamily].flatMap(([family, count]) => (count >= familyCaps[family] ? [family] : []));
    const next = await findNext(trx, {
      ...runnable(abilities),
      workspaceId: line.workspace_id,
      outputType: line.output_type,
      full,
      free,
    });
    for (const { file_id, family } of next) {
      if ((ofFamily.get(family) ?? 0) >= familyCaps[family]) continue;
      add(ofFamily, family, 1);
      taken.push(file_id);
    }
    if (taken.length >= limit) break;
  }
  return taken;
}

const renew = prepared.all(
  (db, { owner, fileIds, leaseUntil }: Params<{ owner: string; fileIds: string[]; leaseUntil: Moment }>) =>
    db
      .updateTable('generations')
      .set({ lease_until: timeOf(db, leaseUntil) })
      .where('lease_owner', '=', owner)
      .where('status', 'in', OPEN)
      .where('file_id', ...anyOf(db, fileIds))
      .returning(['file_id', 'epoch']),
);

/** Renews the leases of the worker and returns the files whose lease it has lost. */
export async function renewLeases(
  trx: Writer,
  owner: string,
  tasks: { fileId: string; epoch: number }[],
  leaseUntil: Moment,
): Promise<string[]> {
  if (tasks.length === 0) return [];
  const kept = await renew(trx, { owner, fileIds: tasks.map(({ fileId }) => fileId), leaseUntil });
  const epochs = new Map(kept.map((row) => [row.file_id, row.epoch]));
  return tasks.flatMap(({ fileId, epoch }) => (epochs.get(fileId) === epoch ? [] : [fileId]));
}

/** Releases a lease of the worker. Clears the owner too, so that a renewal in flight has no effect. */
export const releaseLease = prepared.run(
  (db, { owner, fileId, epoch, now }: Params<{ owner: string; fileId: string; epoch: number; now: Moment }>) =>
    db
      .updateTable('generations')
      .set({ lease_owner: null, lease_until: timeOf(db, now) })
      .where('file_id', '=', fileId)
      .where('epoch', '=', epoch)
      .where('lease_owner', '=', owner)
      .where('status', 'in', OPEN),
);

/** Expires all leases of a worker that was restarted. */
export const expireLeases = prepared.run((db, { owner, now }: Params<{ owner: string; now: Moment }>) =>
  db
    .updateTable('generations')
    .set({ lease_until: timeOf(db, now) })
    .where('lease_owner', '=', owner),
);

/** Counts the open generations that each worker has a lease of. */
export async function countLeases(db: Database): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('generations')
    .select((eb) => ['lease_owner', eb.fn.countAll<number>().as('count')])
    .where('status', 'in', OPEN)
    .where('engine', '=', 'embedded')
    .groupBy('lease_owner')
    .execute();
  return new Map(rows.flatMap(({ lease_owner: owner, count }) => (owner === null ? [] : [[owner, count]])));
}
