import type { Command } from 'commander';
import type { Created } from '../backup/create.ts';
import type { Restored } from '../backup/restore.ts';
import { inTransaction } from '../db/transaction.ts';
import { recordAct } from './audit.ts';
import { type Data, nameOf } from './data.ts';
import { CommandError, type Output, table } from './output.ts';

interface PruneOptions {
  keep?: string;
  keepDays?: string;
  dryRun?: boolean;
}

export function addBackupCommands(
  review: Command,
  { withDatabase, withStorage, withStorageOnly }: Data,
  output: Output,
): void {
  const recordRestore = ({ name, objects, faulty }: Restored) =>
    withDatabase(async ({ db }) => {
      const data = { objects: objects.count, faulty: faulty.length };
      await inTransaction(db, (trx) => recordAct(trx, { act: 'backup.restored', subjectId: name, data }));
    }).catch((error: unknown) => {
      // The backup of an earlier release has no audit log, and on Postgres the database may be restored later.
      output.note(`The restore is not in the audit log: ${error instanceof Error ? error.message : error}`);
    });

  const backup = review
    .command('backup')
    .description('copy the database and the storage into a folder, next to the backups that it has; the server may run')
    .argument('<folder>', 'the folder of the backups')
    .option('--storage-only', 'for Postgres, after pg_dump: copy the storage')
    .action((folder: string, { storageOnly = false }: { storageOnly?: boolean }) =>
      withStorage(async ({ address, db, storage }) => {
        const isPostgres = address.dialect === 'postgres';
        if (isPostgres && !storageOnly)
          throw new CommandError(
            `The database is on Postgres, which has its own backups. First run\n  pg_dump --format=custom --file="${folder}/$(date -u +%Y-%m-%dT%H-%M-%SZ).dump" '${nameOf(address)}'\nand then\n  review backup ${folder} --storage-only`,
          );
        if (!isPostgres && storageOnly) throw new CommandError('--storage-only: is for Postgres; SQLite is copied too');
        const { createBackup } = await import('../backup/create.ts');
        const created = await createBackup(folder, { address, db, storage });
        output.show(
          created,
          [
            `Backup ${created.name}: ${contentOf(created)}; ${created.copied} objects were new.`,
            ...faults(created),
          ].join('\n'),
        );
        if (created.faulty.length > 0) output.exitCode = 1;
      }),
    );

  backup
    .command('prune')
    .description('remove old backups of a folder, and the objects that only they have')
    .argument('<folder>', 'the folder of the backups')
    .option('--keep <number>', 'keep that many of the newest')
    .option('--keep-days <days>', 'keep those of so many days; with --keep, what either of the two keeps')
    .option('--dry-run', 'say what would be removed, and how many bytes, and change nothing')
    .action(async (folder: string, { keep, keepDays, dryRun: isDryRun = false }: PruneOptions) => {
      if (keep === undefined && keepDays === undefined)
        throw new CommandError('--keep or --keep-days: say which backups to keep, such as --keep 7');
      const retention = { count: wholeNumber('--keep', keep), days: wholeNumber('--keep-days', keepDays) };
      const { pruneBackups } = await import('../backup/prune.ts');
      const pruned = await pruneBackups(folder, retention, { isDryRun });
      const { kept, removed, backups, leftovers, objects } = pruned;
      const bytes = backups.bytes + leftovers.bytes + objects.bytes;
      output.show(
        { ...pruned, bytes, dryRun: isDryRun },
        [
          `${isDryRun ? 'Would be removed' : 'Removed'}: ${bytes} bytes`,
          `${backups.count} backups (${backups.bytes} bytes)${removed.map((name) => `\n  ${name}`).join('')}`,
          `${objects.count} objects that no other backup has (${objects.bytes} bytes)`,
          `${leftovers.count} remains of backups that were cut off (${leftovers.bytes} bytes)`,
          `Kept: ${kept.length} backups${kept.map((name) => `\n  ${name}`).join('')}`,
        ].join('\n'),
      );
    });

  review
    .command('restore')
    .description('restore a backup into an empty database and storage; start the server afterwards')
    .argument('<folder>', 'the folder of the backups')
    .option('--backup <name>', 'one of them; by default the last complete one')
    .option('--dry-run', 'read and verify everything, say what would come back, and change nothing')
    .action((folder: string, { backup: name, dryRun: isDryRun = false }: { backup?: string; dryRun?: boolean }) =>
      withStorageOnly(async ({ address, storage }) => {
        const { restoreBackup } = await import('../backup/restore.ts');
        const restored = await restoreBackup(folder, { address, storage }, { name, isDryRun });
        if (!isDryRun) await recordRestore(restored);
        output.show(
          { ...restored, dryRun: isDryRun },
          [
            `Backup ${restored.name} ${isDryRun ? 'would come back' : 'is restored'}: ${contentOf(restored)}.`,
            `It is of release ${restored.release}, migration ${restored.migration}.`,
            ...faults(restored),
          ].join('\n'),
        );
        if (restored.faulty.length > 0) output.exitCode = 1;
      }),
    );
}

function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^[1-9]\d{0,4}$/.test(text))
    throw new CommandError(`${option}: write a whole number of at least 1`);
  return text === undefined ? undefined : Number(text);
}

function contentOf({ database, objects, rows }: Pick<Created, 'database' | 'objects' | 'rows'>): string {
  const counts = Object.entries(rows).map(([name, count]) => `${count} ${name}`);
  const rowsOf = database === null ? 'no database' : counts.join(', ');
  return `${rowsOf}; ${objects.count} objects (${objects.bytes} bytes)`;
}

const faults = ({ faulty }: Pick<Created, 'faulty'>): string[] =>
  faulty.length === 0
    ? []
    : [
        `${faulty.length} objects are damaged or missing:`,
        table(
          ['OBJECT', 'STATE'],
          faulty.map(({ key, reason }) => [key, reason]),
        ),
      ];
