import { createClient } from '@review/client';
import { type ProjectRole, SCOPES, type Scope } from '@review/contract';
import { joinWorkspace, type NewPerson } from '../accounts/queries.ts';
import { issueKey } from '../credentials/issue.ts';
import type { House, Person } from './house.ts';

let newcomers = 0;

/** Creates a new person in the house's workspace or another one, so that tests are independent. */
export async function newcomer(
  { deps, url, workspaceId }: House,
  particulars: Partial<NewPerson> & { scopes?: readonly Scope[] } = {},
): Promise<Person & { email: string; name: string }> {
  const number = ++newcomers;
  const { scopes = SCOPES, ...given } = particulars;
  const person = { workspaceId, email: `newcomer-${number}@example.com`, name: `Newcomer ${number}`, ...given };
  const userId = await deps.db.transaction().execute((trx) => joinWorkspace(trx, person));
  const { key } = await issueKey(deps.db, { workspaceId: person.workspaceId, userId, scopes });
  return { ...person, userId, key, client: createClient({ baseUrl: url, token: key, retries: 0 }) };
}

type AssignableRole = Exclude<ProjectRole, 'PROJECT_OWNER'>;

/** Creates a project of that owner with those members. */
export async function newProject(
  owner: Person,
  members: [Person, AssignableRole][] = [],
  name = 'A project',
): Promise<string> {
  const { data } = await owner.client.projects.create({
    body: { name, members: members.map(([person, role]) => ({ user: { id: person.userId }, role })) },
  });
  return data.id;
}

/** The member id of a person in a project. */
export async function membershipOf(person: Person, projectId: string, viewer: Person = person): Promise<string> {
  const { data } = await viewer.client.members.list({ params: { id: projectId } });
  const found = data.find((member) => member.user.id === person.userId);
  if (found === undefined) throw new Error('that person is not a member of the project');
  return found.id;
}
