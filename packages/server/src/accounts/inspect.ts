import type { Database } from '../db/schema.ts';

/** Returns a workspace with the numbers of its people, active keys, projects, files and open generations. */
export async function findWorkspaceWithCounts(db: Database, id: string) {
  return db
    .selectFrom('workspaces as workspace')
    .select(['workspace.id', 'workspace.name', 'workspace.created_at as createdAt'])
    .select(({ selectFrom, fn }) => [
      selectFrom('workspace_members as membership')
        .select(fn.countAll<number>().as('count'))
        .whereRef('membership.workspace_id', '=', 'workspace.id')
        .as('people'),
      selectFrom('api_keys as key')
        .select(fn.countAll<number>().as('count'))
        .whereRef('key.workspace_id', '=', 'workspace.id')
        .where('key.revoked_at', 'is', null)
        .as('keys'),
      selectFrom('projects as project')
        .select(fn.countAll<number>().as('count'))
        .whereRef('project.workspace_id', '=', 'workspace.id')
        .as('projects'),
      selectFrom('files as file')
        .innerJoin('projects as project', 'project.id', 'file.project_id')
        .select(fn.countAll<number>().as('count'))
        .whereRef('project.workspace_id', '=', 'workspace.id')
        .as('files'),
      selectFrom('generations as generation')
        .select(fn.countAll<number>().as('count'))
        .whereRef('generation.workspace_id', '=', 'workspace.id')
        .where('generation.status', 'in', ['QUEUED', 'RUNNING'])
        .as('openGenerations'),
    ])
    .where('workspace.id', '=', id)
    .executeTakeFirst();
}

export async function findAccount(db: Database, id: string) {
  return db
    .selectFrom('users')
    .select(['id', 'email', 'name', 'created_at as createdAt'])
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function listWorkspacesOf(db: Database, userId: string) {
  return db
    .selectFrom('workspace_members')
    .select(['workspace_id as id', 'display_name as displayName', 'created_at as joinedAt'])
    .where('user_id', '=', userId)
    .orderBy('workspace_id')
    .execute();
}

/** Returns the projects of a person in all workspaces, with the person's role. */
export async function listProjectsOf(db: Database, userId: string) {
  return db
    .selectFrom('project_members as member')
    .innerJoin('projects as project', 'project.id', 'member.project_id')
    .select(['project.id', 'project.name', 'project.workspace_id as workspaceId', 'member.role'])
    .where('member.user_id', '=', userId)
    .orderBy('project.name')
    .orderBy('project.id')
    .execute();
}

/** Returns the subjects of identity providers that are linked to an account. */
export async function listSubjectsOf(db: Database, userId: string) {
  return db
    .selectFrom('oauth_subjects')
    .select(['issuer', 'subject', 'created_at as linkedAt'])
    .where('user_id', '=', userId)
    .orderBy('issuer')
    .orderBy('subject')
    .execute();
}

/** Returns the access links of all projects, or of those of a workspace or one project. Never their keys. */
export async function listLinks(
  db: Database,
  { workspaceId, projectId }: { workspaceId?: string | undefined; projectId?: string | undefined },
) {
  return db
    .selectFrom('access_links as link')
    .innerJoin('projects as project', 'project.id', 'link.project_id')
    .select([
      'link.id',
      'link.role',
      'link.description',
      'link.created_at as createdAt',
      'link.expires_at as expiresAt',
    ])
    .select(['project.id as projectId', 'project.name as projectName', 'project.workspace_id as workspaceId'])
    .$if(workspaceId !== undefined, (query) => query.where('project.workspace_id', '=', workspaceId ?? ''))
    .$if(projectId !== undefined, (query) => query.where('project.id', '=', projectId ?? ''))
    .orderBy('link.created_at')
    .orderBy('link.id')
    .execute();
}
