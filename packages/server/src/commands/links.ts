import { Uuid } from '@review/contract';
import type { Command } from 'commander';
import { listLinks } from '../accounts/inspect.ts';
import { secondsFromNow } from '../db/time.ts';
import type { Data } from './data.ts';
import { existingWorkspace } from './existing-workspace.ts';
import { CommandError, type Output, table } from './output.ts';

export function addLinkCommands(review: Command, { withDatabase }: Data, output: Output): void {
  review
    .command('link')
    .description('access links')
    .command('list')
    .description('list the access links, without their keys')
    .option('--workspace <id>', 'only those of one workspace')
    .option('--project <id>', 'only those of one project')
    .action(({ workspace, project }: { workspace?: string; project?: string }) =>
      withDatabase(async ({ db }) => {
        const projectId = Uuid.safeParse(project).data;
        if (project !== undefined && projectId === undefined)
          throw new CommandError('--project: write the id of a project');
        const workspaceId = workspace && (await existingWorkspace(db, workspace));
        const links = await listLinks(db, { workspaceId, projectId });
        const stateOf = (expiresAt: string | null) =>
          expiresAt === null ? 'never expires' : expiresAt <= secondsFromNow(0) ? `expired ${expiresAt}` : expiresAt;
        const rows = links.map(({ id, projectName, role, createdAt, expiresAt, description }) => [
          id,
          projectName,
          role,
          createdAt,
          stateOf(expiresAt),
          description ?? '-',
        ]);
        output.show(links, table(['ID', 'PROJECT', 'ROLE', 'CREATED', 'EXPIRES', 'DESCRIPTION'], rows));
      }),
    );
}
