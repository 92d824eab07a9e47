import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import { parseJson } from '../db/json.ts';
import type { Database } from '../db/schema.ts';
import { hasAct, listActs } from '../rooms/audit/queries.ts';
import { recordCommand } from '../rooms/audit/record.ts';
import type { Data } from './data.ts';
import { existingWorkspace } from './existing-workspace.ts';
import { limitOf } from './limit.ts';
import { CommandError, type Output, table } from './output.ts';

type Done = Omit<Parameters<typeof recordCommand>[1], 'operator'>;

/** Records what this command has done, by the user of the operating system who runs it. */
export const recordAct = (db: Database, done: Done): Promise<void> =>
  recordCommand(db, { ...done, operator: operator() });

function operator(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // The user of a container may have no name.
    return `${process.getuid?.() ?? 'unknown'}@${hostname()}`;
  }
}

interface AuditOptions {
  act?: string;
  workspace?: string;
  by?: string;
  since?: string;
  limit: string;
  before?: string;
}

export function addAuditCommand(review: Command, { withDatabase }: Data, output: Output): void {
  review
    .command('audit')
    .description('list administrative acts of people and of operators, the last one first')
    .option('--act <name>', 'only one kind, such as key.created or member.removed')
    .option('--workspace <id>', 'only those in one workspace')
    .option('--by <who>', 'only those of a person (id or e-mail) or an operator (user@host)')
    .option('--since <date>', 'only those from this day on, such as 2027-01-31')
    .option('--limit <number>', 'how many, up to 1000', '50')
    .option('--before <id>', 'those before this one: the last one of the page before')
    .action((asked: AuditOptions) =>
      withDatabase(async ({ db }) => {
        if (asked.since !== undefined && !/^\d{4}-\d\d-\d\d$/.test(asked.since))
          throw new CommandError('--since: write a date such as 2027-01-31');
        if (asked.before !== undefined && !(await hasAct(db, asked.before)))
          throw new CommandError(`--before: there is no entry ${asked.before}`);
        const found = await listActs(db, {
          act: asked.act,
          workspaceId: asked.workspace && (await existingWorkspace(db, asked.workspace)),
          by: asked.by,
          since: asked.since,
          before: asked.before,
          limit: limitOf(asked.limit),
        });
        const acts = found.map((row) => ({
          id: row.id,
          at: row.at,
          act: row.act,
          user: row.actor_id && { id: row.actor_id, email: row.actor_email },
          operator: row.operator,
          workspaceId: row.workspace_id,
          projectId: row.project_id,
          subjectId: row.subject_id,
          data: parseJson(row.data),
        }));
        const rows = found.map((row) => [
          row.id,
          row.at,
          row.actor_email ?? row.actor_id ?? row.operator ?? '-',
          row.act,
          row.subject_id ?? '-',
          row.data === '{}' ? '-' : row.data,
        ]);
        output.show(acts, table(['ID', 'AT', 'BY', 'ACT', 'SUBJECT', 'DETAILS'], rows));
      }),
    );
}
