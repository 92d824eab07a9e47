import {
  type Engine,
  type Family,
  type GenerationTask,
  OPEN_GENERATION_STATUSES,
  type OutputType,
  type Provider,
} from '@review/contract';
import { type Expression, type ExpressionBuilder, sql } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type Abilities, withAbility } from '../workers/abilities.ts';

interface Caps {
  slots: Record<OutputType, number>;
  familyCaps: Record<Family, number>;
}

export interface Holder {
  engine: Engine;
  /** The name of the worker, or of the dispatcher until it has started a workflow. */
  owner: string;
  leaseUntil: Expression<string>;
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
  now: Expression<string>,
): Promise<GenerationTask[]> {
  return inTransaction(db, async (trx) => {
    await sql`update generation_gate set id = id`.execute(trx);
    const lapsed = await findLapsed(trx, holder.abilities, now, limit);
    const waiting =
      limit > lapsed.length ? await findStartable(trx, holder.abilities, caps, limit - lapsed.length) : [];
    const taken = [...lapsed, ...waiting];
    if (taken.length === 0) return [];
    const rows = await trx
      .updateTable('generations')
      .set((eb) => ({
        engine: holder.engine,
        // A workflow keeps its epoch when it is started again, because the first start may have succeeded.
        epoch:
          holder.engine === 'temporal'
            ? eb
                .case()
                .when('engine', '=', 'temporal')
                .then(eb.ref('epoch'))
                .else(eb('epoch', '+', 1))
                .end()
            : eb('epoch', '+', 1),
        lease_owner: holder.owner,
        lease_until: holder.leaseUntil,
        provider: providerFor(eb, holder.abilities),
      }))
      .where('file_id', 'in', anyOf(taken))
      // It may have been canceled or renewed since it was selected.
      .where('status', 'in', OPEN_GENERATION_STATUSES)
      .where((eb) => eb.or([eb('engine', 'is', null), eb('lease_until', '<', now)]))
      .returning(['file_id as fileId', 'family', 'epoch'])
      .execute();
    return taken.flatMap((id) => rows.find((row) => row.fileId === id) ?? []);
  });
}

/** Returns generations with an expired lease, of any engine. */
async function findLapsed(
  trx: Writer,
  abilities: Abilities,
  now: Expression<string>,
  limit: number,
): Promise<string[]> {
  const rows = await trx
    .selectFrom('generations')
    .select('file_id')
    .where('status', 'in', OPEN_GENERATION_STATUSES)
    .where('engine', 'is not', null)
    .where('lease_until', '<', now)
    .where((eb) => canRun(eb, abilities))
    .orderBy('lease_until')
    .limit(limit)
    .execute();
  return rows.map((row) => row.file_id);
}

/** Counts claimed generations by family, and by workspace and type. */
export async function countHeld(db: Database): Promise<{ ofFamily: Map<Family, number>; ofSlot: Map<string, number> }> {
  const held = await db
    .selectFrom('generations')
    .select((eb) => ['workspace_id', 'output_type', 'family', eb.fn.countAll<number>().as('count')])
    .where('status', 'in', OPEN_GENERATION_STATUSES)
    .where('engine', 'is not', null)
    .groupBy(['workspace_id', 'output_type', 'family'])
    .execute();
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

/** Matches generations that the abilities can run. Every worker has the sandbox, so that any can finish a sandbox run. */
function canRun(eb: Builder, abilities: Abilities) {
  const live = withAbility(abilities, 'live');
  const others = [...withAbility(abilities, 'sandbox'), ...withAbility(abilities, 'refuse')];
  return eb.or([
    eb.and([eb('status', '=', 'RUNNING'), eb('provider', '=', 'sandbox')]),
    ...(live.length > 0 ? [eb('family', 'in', live)] : []),
    ...(others.length > 0
      ? [eb.and([eb('family', 'in', others), eb('status', '=', 'QUEUED'), eb('promised', '!=', 'live')])]
      : []),
  ]);
}

/** The provider to use. A running generation keeps its provider. */
function providerFor(eb: Builder, abilities: Abilities) {
  const chosen = eb.case().when('status', '=', 'RUNNING').then(eb.ref('provider'));
  const live = withAbility(abilities, 'live');
  const sandbox = withAbility(abilities, 'sandbox');
  const withLive = live.length > 0 ? chosen.when('family', 'in', live).then(eb.val<Provider | null>('live')) : chosen;
  const withBoth =
    sandbox.length > 0 ? withLive.when('family', 'in', sandbox).then(eb.val<Provider | null>('sandbox')) : withLive;
  return withBoth.else(eb.val<Provider | null>(null)).end();
}

async function findStartable(
  trx: Writer,
  abilities: Abilities,
  { slots, familyCaps }: Caps,
  limit: number,
): Promise<string[]> {
  const { ofFamily, ofSlot } = await countHeld(trx);
  const lines = await trx
    .selectFrom('generations')
    .select((eb) => ['workspace_id', 'output_type', eb.fn.min('queued_at').as('oldest')])
    .where('status', '=', 'QUEUED')
    .where('engine', 'is', null)
    .groupBy(['workspace_id', 'output_type'])
    .orderBy('oldest')
    .execute();
  const taken: string[] = [];
  for (const line of lines) {
    const free = Math.min(
      slots[line.output_type] - (ofSlot.get(slotOf(line.workspace_id, line.output_type)) ?? 0),
      limit - taken.length,
    );
    if (free <= 0) continue;
    const full = [...ofFamily].flatMap(([family, count]) => (count >= familyCaps[family] ? [family] : []));
    const next = await trx
      .selectFrom('generations')
      .select(['file_id', 'family'])
      .where('workspace_id', '=', line.workspace_id)
      .where('output_type', '=', line.output_type)
      .where('status', '=', 'QUEUED')
      .where('engine', 'is', null)
      .where((eb) => canRun(eb, abilities))
      .$if(full.length > 0, (waiting) => waiting.where('family', 'not in', full))
      .orderBy('queued_at')
      .limit(free)
      .execute();
    for (const { file_id, family } of next) {
      if ((ofFamily.get(family) ?? 0) >= familyCaps[family]) continue;
      add(ofFamily, family, 1);
      taken.push(file_id);
    }
    if (taken.length >= limit) break;
  }
  return taken;
}

/** Renews the leases of the worker and returns the files whose lease it has lost. */
export async function renewLeases(
  trx: Writer,
  owner: string,
  tasks: { fileId: string; epoch: number }[],
  leaseUntil: Expression<string>,
): Promise<string[]> {
  if (tasks.length === 0) return [];
  const kept = await trx
    .updateTable('generations')
    .set({ lease_until: leaseUntil })
    .where('lease_owner', '=', owner)
    .where('status', 'in', OPEN_GENERATION_STATUSES)
    .where('file_id', 'in', anyOf(tasks.map(({ fileId }) => fileId)))
    .returning(['file_id', 'epoch'])
    .execute();
  const epochs = new Map(kept.map((row) => [row.file_id, row.epoch]));
  return tasks.flatMap(({ fileId, epoch }) => (epochs.get(fileId) === epoch ? [] : [fileId]));
}

/** Releases a lease of the worker. Clears the owner too, so that a renewal in flight has no effect. */
export async function releaseLease(
  trx: Writer,
  owner: string,
  { fileId, epoch }: { fileId: string; epoch: number },
  now: Expression<string>,
): Promise<void> {
  await trx
    .updateTable('generations')
    .set({ lease_owner: null, lease_until: now })
    .where('file_id', '=', fileId)
    .where('epoch', '=', epoch)
    .where('lease_owner', '=', owner)
    .where('status', 'in', OPEN_GENERATION_STATUSES)
    .execute();
}

/** Expires all leases of a worker that was restarted. */
export async function expireLeases(trx: Writer, owner: string, now: Expression<string>): Promise<void> {
  await trx.updateTable('generations').set({ lease_until: now }).where('lease_owner', '=', owner).execute();
}
