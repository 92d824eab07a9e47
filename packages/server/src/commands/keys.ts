import { SCOPES, Scope } from '@review/contract';
import type { Command } from 'commander';
import { findMember } from '../accounts/queries.ts';
import { issueKey } from '../credentials/issue.ts';
import { listCredentials, revokeCredential } from '../credentials/queries.ts';
import { now } from '../db/time.ts';
import { inTransaction } from '../db/transaction.ts';
import { recordAct } from './audit.ts';
import type { Data } from './data.ts';
import { existingWorkspace } from './existing-workspace.ts';
import { expiry } from './expiry.ts';
import { CommandError, type Output, table } from './output.ts';

/** `key create`, `key list` and `key revoke`. */
export function addKeyCommands(review: Command, { withDatabase }: Data, output: Output): void {
  const key = review.command('key').description('API keys');
  key
    .command('create')
    .description('create an API key; it is printed only once')
    .requiredOption('--workspace <id>', 'the workspace the key is bound to')
    .requiredOption('--user <id or e-mail>', 'the person the key acts for')
    .requiredOption('--scopes <csv|all>', `what the key may do: all, or some of ${SCOPES.join(',')}`)
    .option('--expires <when>', 'a date such as 2027-01-31, or a number of days such as 90d')
    .action((options: { workspace: string; user: string; scopes: string; expires?: string }) =>
      withDatabase(async ({ db }) => {
        const workspaceId = await existingWorkspace(db, options.workspace);
        const userId = await findMember(db, workspaceId, options.user);
        if (userId === undefined) throw new CommandError('--user: the workspace has no member with this id or e-mail');
        const expiresAt = options.expires === undefined ? null : expiry(options.expires);
        const scopes = scopesOf(options.scopes);
        const issued = await inTransaction(db, async (trx) => {
          const issued = await issueKey(trx, { workspaceId, userId, scopes, expiresAt });
          const data = { user: { id: userId }, scopes, expiresAt };
          await recordAct(trx, { act: 'key.created', workspaceId, subjectId: issued.id, data });
          return issued;
        });
        output.show(issued, `Key ${issued.id}\n${issued.key}\nIt is not stored and will not be shown again.`);
      }),
    );
  key
    .command('list')
    .description('list the API keys')
    .option('--workspace <id>', 'only those of one workspace')
    .action(({ workspace }: { workspace?: string }) =>
      withDatabase(async ({ db }) => {
        const keys = await listCredentials(db, {
          workspaceId: workspace && (await existingWorkspace(db, workspace)),
        });
        output.show(keys.map(toOutput), keyTable(keys));
      }),
    );
  key
    .command('revoke')
    .description('revoke an API key; it stops working within a second')
    .argument('<id>', 'the id of the key')
    .action((id: string) =>
      withDatabase(async ({ db }) => {
        const isKnown = await inTransaction(db, async (trx) => {
          const workspaceId = await revokeCredential(trx, id, now());
          if (workspaceId !== undefined) await recordAct(trx, { act: 'key.revoked', workspaceId, subjectId: id });
          return workspaceId !== undefined;
        });
        if (!isKnown) throw new CommandError(`There is no key ${id}.`);
        output.show({ id }, `Key ${id} is revoked.`);
      }),
    );
}

type ListedKey = Awaited<ReturnType<typeof listCredentials>>[number];

export const toOutput = ({ scopes, ...key }: ListedKey) => ({ ...key, scopes: scopes.split(' ').filter(Boolean) });

export const keyTable = (keys: ListedKey[]): string =>
  table(
    ['ID', 'USER', 'KEY', 'SCOPES', 'EXPIRES', 'LAST USED'],
    keys.map((key) => [
      key.id,
      key.email,
      `…${key.hint}`,
      key.scopes.split(' ').length === SCOPES.length ? 'all' : key.scopes.replaceAll(' ', ','),
      key.revokedAt !== null ? 'revoked' : (key.expiresAt ?? 'never expires'),
      key.lastUsedAt ?? 'never used',
    ]),
  );

function scopesOf(text: string): readonly Scope[] {
  if (text === 'all') return SCOPES;
  return text.split(',').map((scope) => {
    const parsed = Scope.safeParse(scope.trim());
    if (!parsed.success)
      throw new CommandError(`--scopes: there is no scope ${scope.trim()}; write all, or some of ${SCOPES.join(',')}`);
    return parsed.data;
  });
}
