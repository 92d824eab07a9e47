import type { Subject } from '@review/contract';
import { z } from 'zod';
import { locked } from '../db/locked.ts';
import type { Writer } from '../db/schema.ts';
import type { Caller } from '../request/caller.ts';
import { ProblemError } from '../request/problem.ts';
import { SUBJECT_FINDERS } from '../rooms/subjects.ts';
import { etagOf } from './conditional.ts';
import { type Attempt, NOT_WRITING } from './idempotency.ts';
import { type Access, type Operation, perform } from './operations.ts';

/** Returns all operations, bound to one transaction. */
export type OperationsOn = (trx: Writer) => Operation[];

type Granted = Access & { caller: Caller };

/** The tables of the records that have an ETag. */
const TABLES: Partial<Record<Subject, 'projects' | 'files' | 'versions' | 'comments' | 'skills'>> = {
  project: 'projects',
  file: 'files',
  version: 'versions',
  comment: 'comments',
  skill: 'skills',
};

/**
 * Runs the work of a request only if the record's ETag matches `If-Match`. The comparison is in the work's transaction and
 * locks the row first, so that the record cannot change in between.
 */
export function onMatch(
  once: Attempt,
  header: string,
  kind: Subject,
  granted: Granted,
  disconnected: () => AbortSignal,
  operationsOn: OperationsOn,
): Attempt {
  const named = header.split(',').map((tag) => tag.trim());
  return {
    ...once,
    write: (work) =>
      once.write(async (trx) => {
        const tag = await currentTag(trx, kind, granted, disconnected, operationsOn);
        if (!named.includes(tag) && !named.includes('*')) throw new ProblemError('PRECONDITION_FAILED');
        return work(trx);
      }),
  };
}

/** The current ETag of the record, as its GET route computes it. */
async function currentTag(
  trx: Writer,
  kind: Subject,
  granted: Granted,
  disconnected: () => AbortSignal,
  operationsOn: OperationsOn,
): Promise<string> {
  const id = granted.subject?.id ?? '';
  const reads = operationsOn(trx).find(({ route: { metadata } }) => metadata.conditional && metadata.subject === kind);
  const table = TABLES[kind];
  if (reads === undefined || table === undefined)
    throw new Error(`A ${kind} has no ETag: no conditional route reads it, or TABLES has no entry for it.`);
  await locked(trx, trx.selectFrom(table).select('id').where('id', '=', id)).execute();
  const subject = await SUBJECT_FINDERS[kind](trx, { ...granted.caller, id });
  if (subject === undefined) throw new ProblemError('NOT_FOUND');
  const { query } = reads.route;
  const defaults = query instanceof z.ZodType ? query.parse({}) : undefined;
  const answer = await perform(reads, { ...granted, subject, query: defaults }, disconnected, NOT_WRITING);
  return etagOf(JSON.stringify(answer));
}
