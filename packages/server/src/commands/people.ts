import { Uuid } from '@review/contract';
import type { Command } from 'commander';
import {
  findAccount,
  findWorkspaceWithCounts,
  listProjectsOf,
  listSubjectsOf,
  listWorkspacesOf,
} from '../accounts/inspect.ts';
import { findMember, findUser, listPeople, listWorkspaces } from '../accounts/queries.ts';
import { lockSolelyOwned, makeOwner, removeFromWorkspace } from '../accounts/remove.ts';
import { listCredentials } from '../credentials/queries.ts';
import type { Database, Writer } from '../db/schema.ts';
import { now } from '../db/time.ts';
import { appendEvents, type NewEvent } from '../rooms/events/outbox.ts';
import { abortDropped, dropUnfinishedUploads } from '../rooms/uploads/drop.ts';
import { NO_USE, sumUse, totalOf } from '../storage/use.ts';
import { recordAct } from './audit.ts';
import type { Data } from './data.ts';
import { existingWorkspace } from './existing-workspace.ts';
import { keyTable, toOutput } from './keys.ts';
import { CommandError, type Output, table } from './output.ts';

/** `workspace list` and `show`, `user list`, `show` and `remove`. */
export function addPeopleCommands(
  parents: { workspace: Command; user: Command },
  { withDatabase, withStorage }: Data,
  output: Output,
): void {
  parents.workspace
    .command('list')
    .description('list the workspaces')
    .action(() =>
      withDatabase(async ({ db }) => {
        const workspaces = await listWorkspaces(db);
        const rows = workspaces.map(({ id, name, people, createdAt }) => [id, name, String(people), createdAt]);
        output.show(workspaces, table(['ID', 'NAME', 'PEOPLE', 'CREATED'], rows));
      }),
    );

  parents.workspace
    .command('show')
    .description('show a workspace: its people, keys, projects, files, open generations and bytes')
    .argument('<id>', 'the id of the workspace')
    .action((id: string) =>
      withDatabase(async ({ db }) => {
        const workspace = await findWorkspaceWithCounts(db, Uuid.safeParse(id).data ?? '');
        if (workspace === undefined) throw new CommandError(`There is no workspace ${id}.`);
        const use = (await sumUse(db)).get(workspace.id) ?? NO_USE;
        const shown = { ...workspace, storage: { ...use, total: totalOf(use) } };
        const { createdAt, people, keys, projects, files, openGenerations } = workspace;
        output.show(
          shown,
          [
            `${workspace.id} ${workspace.name}, created ${createdAt}`,
            `${people} people, ${keys} active keys, ${projects} projects, ${files} files, ${openGenerations} open generations`,
            `${totalOf(use)} bytes: ${use.files} files, ${use.trash} trash, ${use.renditions} renditions, ${use.attachments} attachments`,
          ].join('\n'),
        );
      }),
    );

  parents.user
    .command('show')
    .description('show a person: workspaces, projects and roles, keys, linked subjects')
    .argument('<id or e-mail>', 'the person')
    .action((user: string) =>
      withDatabase(async ({ db }) => {
        const account = await findAccount(db, (await findUser(db, user)) ?? Uuid.safeParse(user).data ?? '');
        if (account === undefined) throw new CommandError(`There is no person ${user}.`);
        const userId = account.id;
        const workspaces = await listWorkspacesOf(db, userId);
        const projects = await listProjectsOf(db, userId);
        const keys = await listCredentials(db, { userId });
        const subjects = await listSubjectsOf(db, userId);
        output.show(
          { ...account, workspaces, projects, keys: keys.map(toOutput), subjects },
          [
            `${account.id} ${account.email} ${account.name}, created ${account.createdAt}`,
            '',
            table(
              ['WORKSPACE', 'SHOWN AS', 'JOINED'],
              workspaces.map(({ id, displayName, joinedAt }) => [id, displayName ?? account.name, joinedAt]),
            ),
            '',
            table(
              ['PROJECT', 'NAME', 'ROLE'],
              projects.map(({ id, name, role }) => [id, name, role]),
            ),
            '',
            keyTable(keys),
            ...subjects.map(({ issuer, subject }) => `${subject} of ${issuer}`),
          ].join('\n'),
        );
      }),
    );

  parents.user
    .command('list')
    .description('list the people, once for each workspace they belong to')
    .option('--workspace <id>', 'only those of one workspace')
    .action(({ workspace }: { workspace?: string }) =>
      withDatabase(async ({ db }) => {
        const people = await listPeople(db, workspace && (await existingWorkspace(db, workspace)));
        const rows = people.map(({ id, email, name, displayName, workspaceId, joinedAt }) => [
          id,
          email,
          displayName ?? name,
          workspaceId ?? 'none',
          joinedAt ?? '-',
        ]);
        output.show(people, table(['ID', 'E-MAIL', 'NAME', 'WORKSPACE', 'JOINED'], rows));
      }),
    );

  parents.user
    .command('remove')
    .description('remove a person from a workspace: access ends within a second; comments and files stay')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--user <id or e-mail>', 'the person')
    .option('--new-owner <id or e-mail>', 'the new owner of projects whose only owner is the person')
    .action((options: { workspace: string; user: string; newOwner?: string }) =>
      withStorage(async ({ db, storage, log }) => {
        const workspaceId = await existingWorkspace(db, options.workspace);
        const { blobs, ...removed } = await db.transaction().execute(async (trx) => {
          const userId = await getMember(trx, workspaceId, '--user', options.user);
          const owned = await lockSolelyOwned(trx, { workspaceId, userId });
          const promoted = owned.length > 0 ? await handOver(trx, workspaceId, userId, owned, options.newOwner) : [];
          const { blobs, deleted } = await dropUnfinishedUploads(trx, { userId, workspaceId });
          const { members, keys } = await removeFromWorkspace(trx, { workspaceId, userId }, now());
          const left = members.map((member) => memberRemoved(member, userId));
          const data = { projects: members.length, keys, newOwner: options.newOwner ?? null };
          await recordAct(trx, { act: 'user.removed', workspaceId, subjectId: userId, data });
          await appendEvents(trx, null, [...promoted, ...deleted, ...left]);
          return { id: userId, blobs, projects: members.length, keys };
        });
        await abortDropped({ storage, log }, blobs);
        const { id, projects, keys } = removed;
        output.show(removed, `User ${id} is removed from the workspace: ${projects} projects, ${keys} API keys.`);
      }),
    );
}

async function handOver(
  trx: Writer,
  workspaceId: string,
  userId: string,
  owned: { id: string; name: string }[],
  newOwner: string | undefined,
): Promise<NewEvent[]> {
  if (newOwner === undefined) {
    const names = owned.map(({ id, name }) => `${name} (${id})`).join(', ');
    throw new CommandError(
      `--user: is the only owner of ${names}. Add another owner to each of these projects, or set one with --new-owner.`,
    );
  }
  const ownerId = await getMember(trx, workspaceId, '--new-owner', newOwner);
  if (ownerId === userId) throw new CommandError('--new-owner: must be another person than --user');
  const projectIds = owned.map(({ id }) => id);
  const owners = await makeOwner(trx, ownerId, projectIds, now());
  return owners.map(({ id, project_id: projectId, isNew }) => {
    const data = { user: { id: ownerId }, role: 'PROJECT_OWNER' as const };
    return { type: isNew ? 'member.added' : 'member.changed', projectId, subjectId: id, data };
  });
}

const memberRemoved = (member: { id: string; project_id: string }, userId: string): NewEvent<'member.removed'> => ({
  type: 'member.removed',
  projectId: member.project_id,
  subjectId: member.id,
  data: { user: { id: userId } },
});

async function getMember(db: Database, workspaceId: string, option: string, user: string): Promise<string> {
  const id = await findMember(db, workspaceId, user);
  if (id === undefined) throw new CommandError(`${option}: the workspace has no member with this id or e-mail`);
  return id;
}
