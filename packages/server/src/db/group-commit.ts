import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database, Writer } from './schema.ts';

/** The maximum of transactions in a group, so that the first does not wait long for the last. */
const MAX_GROUP = 32;

interface Pending {
  /** Runs the work in the transaction of its group. Returns a function that settles its promise after the commit. */
  runInGroup(trx: Writer): Promise<() => void>;
  runAlone(): Promise<void>;
  reject(error: unknown): void;
}

export type GroupCommit = <T>(work: (trx: Writer) => Promise<T>) => Promise<T>;

/**
 * Runs transactions that arrive in the same turn of the event loop, or in turns that follow each other, as one transaction of
 * SQLite, which waits for the disk once. Each has a savepoint: one that fails is rolled back alone. None is acknowledged before the commit of its group.
 */
export function groupCommit(db: Database): GroupCommit {
  const pending: Pending[] = [];
  let isRunning = false;

  async function runGroups(): Promise<void> {
    isRunning = true;
    while (pending.length > 0) {
      // As long as the group grows: requests of other connections are often read by the next turn.
      for (let size = 0; size < pending.length && size < MAX_GROUP; ) {
        size = pending.length;
        await nextTurn();
      }
      await runGroup(db, pending.splice(0, MAX_GROUP));
    }
    isRunning = false;
  }

  return (work) =>
    new Promise((resolve, reject) => {
      pending.push({
        async runInGroup(trx) {
          await sql`savepoint member`.execute(trx);
          try {
            const result = await work(trx);
            await sql`release member`.execute(trx);
            return () => resolve(result);
          } catch (error) {
            await sql`rollback to member`.execute(trx);
            await sql`release member`.execute(trx);
            return () => reject(error);
          }
        },
        runAlone: () => db.transaction().execute(work).then(resolve, reject),
        reject,
      });
      if (!isRunning) void runGroups();
    });
}

async function runGroup(db: Database, group: readonly Pending[]): Promise<void> {
  if (group.length > 1) {
    let hasBegun = false;
    try {
      const settlers = await db.transaction().execute(async (trx) => {
        hasBegun = true;
        const settlers: (() => void)[] = [];
        for (const member of group) settlers.push(await member.runInGroup(trx));
        return settlers;
      });
      for (const settle of settlers) settle();
      return;
    } catch (error) {
      if (!hasBegun) {
        // Alone, each would wait for the same lock again.
        for (const { reject } of group) reject(error);
        return;
      }
      // The commit failed, or SQLite has rolled back the whole transaction. Alone, only those at fault fail.
    }
  }
  for (const member of group) await member.runAlone();
}
