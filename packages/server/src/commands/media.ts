import type { Command } from 'commander';
import type { Database } from '../db/schema.ts';
import { inTransaction } from '../db/transaction.ts';
import { mediaKindOf } from '../rooms/media/kind.ts';
import { addMediaTask, findCompleteFile, listRebuildable, type RebuildChoice } from '../rooms/media/tasks.ts';
import type { Data } from './data.ts';
import { CommandError, type Output } from './output.ts';

export function addMediaCommands(review: Command, { withDatabase }: Data, output: Output): void {
  review
    .command('media')
    .description('facts and renditions of files')
    .command('rebuild')
    .description('read the media of files again: of one file, or by default of those that were never read')
    .argument('[file]', 'the id of a file')
    .option('--failed', 'all files whose media could not be read, or only in part')
    .option('--all', 'all files')
    .action((file: string | undefined, { failed, all }: { failed?: boolean; all?: boolean }) =>
      withDatabase(async ({ db }) => {
        if ([file, failed, all].filter(Boolean).length > 1)
          throw new CommandError('write only one of a file, --failed and --all');
        const chosen =
          file === undefined ? filesToRead(db, all ? 'all' : failed ? 'failed' : 'missing') : oneFile(db, file);
        let queued = 0;
        for await (const found of chosen) {
          if (mediaKindOf(found.mime_type) === null) continue;
          await inTransaction(db, (trx) => addMediaTask(trx, found));
          queued += 1;
        }
        output.show({ queued }, `${queued} files are queued. Workers read them in the background.`);
      }),
    );
}

async function* oneFile(db: Database, id: string) {
  const found = await findCompleteFile(db, id);
  if (found === undefined) throw new CommandError(`there is no file ${id} with complete content`);
  yield found;
}

async function* filesToRead(db: Database, which: RebuildChoice) {
  for (let afterId = ''; ; ) {
    const files = await listRebuildable(db, { afterId }, which);
    yield* files;
    const last = files.at(-1);
    if (last === undefined) return;
    afterId = last.id;
  }
}
