import { FAMILIES, Family } from '@review/contract';
import type { Command } from 'commander';
import { clockOf } from '../db/clock.ts';
import { now } from '../db/time.ts';
import { inTransaction } from '../db/transaction.ts';
import { listPaused, pauseFamily, resumeFamily } from '../rooms/generation/paused-families.ts';
import { providersOf } from '../rooms/workers/providers.ts';
import { listWorkers } from '../rooms/workers/queries.ts';
import { recordAct } from './audit.ts';
import type { Data } from './data.ts';
import { CommandError, type Output, table } from './output.ts';

/** `providers`, `providers pause` and `providers resume`. */
export function addProviderCommands(review: Command, { withDatabase }: Data, output: Output): void {
  const providers = review
    .command('providers')
    .description(
      'list the model families: live, sandbox, misconfigured, no key or no worker; paused; the last refusal of a provider',
    )
    .action(() =>
      withDatabase(async ({ db, dialect }, { generation }) => {
        const paused = new Map((await listPaused(db)).map((row) => [row.family, row]));
        const families = providersOf(await listWorkers(db, clockOf(dialect)), generation).map((provider) => {
          const pause = paused.get(provider.family);
          return { ...provider, paused: pause === undefined ? null : { at: pause.paused_at, reason: pause.reason } };
        });
        const rows = families.map(({ family, state, reason, workers, paused, refusal }) => [
          family,
          reason === null ? state : `${state}: ${reason}`,
          workers.join(', ') || '-',
          paused === null ? '-' : [paused.at, paused.reason].filter(Boolean).join(': '),
          refusal === null ? '-' : `${refusal.at} ${refusal.type}: ${refusal.message}`,
        ]);
        output.show(families, table(['FAMILY', 'STATE', 'WORKERS', 'PAUSED', 'LAST REFUSAL'], rows));
      }),
    );

  providers
    .command('pause')
    .description('start no further generations of a family: they are accepted and wait; those that run go on')
    .argument('<family>', FAMILIES.join(', '))
    .option('--reason <text>', 'why, for the other operators')
    .action((name: string, { reason = null }: { reason?: string | null }) =>
      withDatabase(async ({ db }) => {
        const family = familyNamed(name);
        const row = { family, reason, paused_at: now() };
        const isNew = await inTransaction(db, async (trx) => {
          await recordAct(trx, { act: 'family.paused', subjectId: family, data: { reason } });
          return pauseFamily(trx, row);
        });
        output.show(
          { family, reason },
          isNew ? `${family} is paused.` : `${family} was paused; the reason is replaced.`,
        );
      }),
    );

  providers
    .command('resume')
    .description('start the generations of a paused family again')
    .argument('<family>', FAMILIES.join(', '))
    .action((name: string) =>
      withDatabase(async ({ db }) => {
        const family = familyNamed(name);
        await inTransaction(db, async (trx) => {
          if (!(await resumeFamily(trx, family))) throw new CommandError(`${family} is not paused.`);
          await recordAct(trx, { act: 'family.resumed', subjectId: family });
        });
        output.show({ family }, `${family} is resumed.`);
      }),
    );
}

export function familyNamed(name: string): Family {
  const parsed = Family.safeParse(name);
  if (!parsed.success) throw new CommandError(`there is no family ${name}; write one of ${FAMILIES.join(', ')}`);
  return parsed.data;
}
