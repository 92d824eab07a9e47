import type { Command } from 'commander';
import { listWorkspaces } from '../accounts/queries.ts';
import { inTransaction } from '../db/transaction.ts';
import { findAbandoned, findDamaged, findUnreferenced } from '../storage/audit.ts';
import { CannotListUploads } from '../storage/storage.ts';
import { NO_USE, sumUse, totalOf } from '../storage/use.ts';
import { recordAct } from './audit.ts';
import type { Data } from './data.ts';
import { CommandError, type Output, table } from './output.ts';

const DEFAULT_HOURS = 48;
/** The lifetime of an upload. Newer objects may belong to an upload in progress. */
const MIN_HOURS = 24;
/** All findings are counted; at most this many are listed. */
const MAX_SHOWN = 1000;

export function addStorageCommands(review: Command, { withDatabase, withStorage }: Data, output: Output): void {
  const storage = review.command('storage').description('the bytes of files and attachments');
  storage
    .command('use')
    .description('show the bytes of each workspace, the largest first')
    .action(() =>
      withDatabase(async ({ db }) => {
        const use = await sumUse(db);
        const workspaces = (await listWorkspaces(db))
          .map(({ id, name }) => ({ id, name, ...(use.get(id) ?? NO_USE) }))
          .map((workspace) => ({ ...workspace, total: totalOf(workspace) }))
          .toSorted((one, other) => other.total - one.total);
        const rows = workspaces.map(({ id, name, files, trash, renditions, attachments, total, unfinished }) => [
          id,
          name,
          ...[files, trash, renditions, attachments, total, unfinished].map(String),
        ]);
        const headings = ['WORKSPACE', 'NAME', 'FILES', 'TRASH', 'RENDITIONS', 'ATTACHMENTS', 'TOTAL', 'UNFINISHED'];
        output.show(workspaces, table(headings, rows));
      }),
    );
  storage
    .command('check')
    .description('compare the storage with the database: objects and uploads without a row, rows without their object')
    .option('--older-than-hours <hours>', 'only what is older counts as unreferenced', String(DEFAULT_HOURS))
    .action(({ olderThanHours }: { olderThanHours: string }) =>
      withStorage(async (opened) => {
        const unreferenced = await collect(shownObjects(findUnreferenced(opened, hoursAgo(olderThanHours))));
        const abandoned = await collectUploads(shownUploads(findAbandoned(opened, hoursAgo(olderThanHours))));
        const missing = await collect(findDamaged(opened));
        const wrong = missing.shown.map(({ id, key, size, found }) => [
          id,
          key,
          found === null ? 'missing' : `${found} bytes instead of ${size}`,
        ]);
        output.show(
          { unreferenced, abandoned, damaged: missing },
          [
            `${summaryOf(unreferenced, abandoned)}; \`review storage gc\` lists and removes them.`,
            ...(abandoned === null ? [UPLOADS_UNKNOWN] : []),
            `${missing.count} rows whose object is missing or has another size.`,
            ...(wrong.length > 0 ? [table(['ROW', 'OBJECT', 'STATE'], wrong), ...more(missing)] : []),
          ].join('\n'),
        );
        if (missing.count > 0) output.exitCode = 1;
      }),
    );
  storage
    .command('gc')
    .description('list the objects and unfinished uploads without a row, and remove them with --delete')
    .option('--older-than-hours <hours>', `only what is older; at least ${MIN_HOURS}`, String(DEFAULT_HOURS))
    .option('--delete', 'remove them; without it nothing is changed')
    .action(({ olderThanHours, delete: isDeleting = false }: { olderThanHours: string; delete?: boolean }) =>
      withStorage(async (opened) => {
        async function* removed() {
          for await (const object of shownObjects(findUnreferenced(opened, hoursAgo(olderThanHours)))) {
            if (isDeleting) await opened.storage.remove(object.key);
            yield object;
          }
        }
        async function* aborted() {
          for await (const upload of shownUploads(findAbandoned(opened, hoursAgo(olderThanHours)))) {
            if (isDeleting) await opened.storage.abort(upload);
            yield upload;
          }
        }
        const unreferenced = await collect(removed());
        const abandoned = await collectUploads(aborted());
        if (isDeleting) {
          const data = { objects: unreferenced.count, bytes: unreferenced.bytes, uploads: abandoned?.count ?? null };
          await inTransaction(opened.db, (trx) =>
            recordAct(trx, { act: 'storage.collected', subjectId: 'storage', data }),
          );
        }
        const uploads = (abandoned?.shown ?? []).map(({ key, upload, changedAt }) => [key, upload, changedAt]);
        const rows = unreferenced.shown.map(({ key, size, modifiedAt }) => [key, String(size), modifiedAt]);
        const summary = summaryOf(unreferenced, abandoned);
        output.show(
          { deleted: isDeleting, ...unreferenced, abandoned },
          [
            ...(rows.length > 0 ? [table(['OBJECT', 'BYTES', 'CHANGED'], rows), ...more(unreferenced)] : []),
            ...(uploads.length > 0 ? [table(['OBJECT', 'UPLOAD', 'CHANGED'], uploads), ...more(abandoned)] : []),
            ...(abandoned === null ? [UPLOADS_UNKNOWN] : []),
            isDeleting ? `Removed ${summary}.` : `${summary}. Nothing was removed; --delete removes them.`,
          ].join('\n'),
        );
      }),
    );
}

async function* shownObjects(objects: ReturnType<typeof findUnreferenced>) {
  for await (const { key, size, modifiedAt } of objects) yield { key, size, modifiedAt: modifiedAt.toISOString() };
}

async function* shownUploads(uploads: ReturnType<typeof findAbandoned>) {
  for await (const { key, upload, changedAt } of uploads) yield { key, upload, changedAt: changedAt.toISOString() };
}

interface Findings<T> {
  count: number;
  /** The size of the objects. The size of uploads is not known. */
  bytes: number;
  /** The first findings. */
  shown: T[];
}

async function collect<T extends { key: string; size?: number }>(found: AsyncIterable<T>): Promise<Findings<T>> {
  const findings: Findings<T> = { count: 0, bytes: 0, shown: [] };
  for await (const each of found) {
    findings.count += 1;
    findings.bytes += each.size ?? 0;
    if (findings.shown.length < MAX_SHOWN) findings.shown.push(each);
  }
  return findings;
}

/** Returns null if the storage cannot list them. */
const collectUploads = <T extends { key: string }>(found: AsyncIterable<T>): Promise<Findings<T> | null> =>
  collect(found).catch((error: unknown) => {
    if (error instanceof CannotListUploads) return null;
    throw error;
  });

const UPLOADS_UNKNOWN =
  'This storage cannot list unfinished uploads. Let a lifecycle rule of the bucket abort them after a few days.';

function summaryOf({ count, bytes }: Findings<unknown>, abandoned: Findings<unknown> | null): string {
  const objects = `${count} unreferenced objects (${bytes} bytes)`;
  return abandoned === null ? objects : `${objects} and ${abandoned.count} abandoned uploads`;
}

const more = (findings: Findings<unknown> | null): string[] =>
  findings !== null && findings.count > findings.shown.length
    ? [`and ${findings.count - findings.shown.length} more`]
    : [];

function hoursAgo(text: string): Date {
  const hours = Number(text);
  if (!Number.isInteger(hours) || hours < MIN_HOURS) {
    throw new CommandError(`--older-than-hours: write a whole number of at least ${MIN_HOURS}`);
  }
  return new Date(Date.now() - hours * 3_600_000);
}
