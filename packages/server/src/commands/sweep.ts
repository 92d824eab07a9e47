import type { Command } from 'commander';
import type { Data } from './data.ts';
import { type Output, table } from './output.ts';

export function addSweepCommand(review: Command, { withDeps }: Data, output: Output): void {
  review
    .command('sweep')
    .description('delete what has expired, as the server does every ten minutes')
    .option('--dry-run', 'show what would be deleted now, and change nothing')
    .action(({ dryRun: isDryRun = false }: { dryRun?: boolean }) =>
      withDeps(async (deps) => {
        const { previewSweep, sweep } = await import('../sweeper.ts');
        const found = await previewSweep(deps);
        if (!isDryRun) await sweep(deps);
        const { projects, trash, uploads, blobs, events, acts, idempotencyKeys, blobsAreHeld } = found;
        const rows = projects.map(({ id, name, deletesAt, files, bytes }) => [
          id,
          name,
          deletesAt ?? '-',
          String(files),
          String(bytes),
        ]);
        output.show(
          { ...found, dryRun: isDryRun },
          [
            isDryRun ? 'Would be deleted:' : 'Deleted:',
            `${projects.length} projects`,
            ...(rows.length > 0 ? [table(['PROJECT', 'NAME', 'DUE', 'FILES', 'BYTES'], rows)] : []),
            `${trash.files} files in the trash (${trash.bytes} bytes)`,
            `${uploads} unfinished uploads and unused attachments`,
            `${blobs} blobs without a row${blobsAreHeld ? '; kept for now, because a backup runs or ended within the hour' : ''}`,
            `${events} events, ${acts} entries of the audit log, ${idempotencyKeys} idempotency keys`,
          ].join('\n'),
        );
      }),
    );
}
