import { type ProjectRole, SCOPES } from '@review/contract';
import { findWorkspaceByName, insertWorkspace, joinWorkspace } from '../accounts/queries.ts';
import { issueKey } from '../credentials/issue.ts';
import type { Writer } from '../db/schema.ts';
import type { Deps } from '../deps.ts';
import type { Caller } from '../http/authenticate.ts';
import { SUBJECT_FINDERS } from '../http/subjects.ts';
import { listWorkspaceMembers } from '../members/queries.ts';
import { listProjects } from '../projects/queries.ts';
import { rooms } from '../rooms.ts';

const WORKSPACE = 'Demo studio';

const PEOPLE: { name: string; email: string; role: ProjectRole }[] = [
  { name: 'Olive Owner', email: 'olive@demo.example', role: 'PROJECT_OWNER' },
  { name: 'Max Manager', email: 'max@demo.example', role: 'PROJECT_MANAGER' },
  { name: 'Mia Member', email: 'mia@demo.example', role: 'PROJECT_MEMBER' },
  { name: 'Rui Reviewer', email: 'rui@demo.example', role: 'PROJECT_REVIEWER' },
  { name: 'Rae Restricted', email: 'rae@demo.example', role: 'PROJECT_RESTRICTED_REVIEWER' },
];

const PROJECTS = [
  {
    name: 'Spring campaign',
    description: 'Three films and the stills for them.',
    folders: ['Scripts', 'Stills', 'Cuts'],
  },
  { name: 'Product film', description: 'Sixty seconds about the new lamp.', folders: ['References', 'Drafts'] },
];

export interface Demo {
  id: string;
  created: boolean;
  people: { id: string; name: string; email: string; role: ProjectRole; key: string | null }[];
  projects: { id: string; name: string }[];
}

/** A workspace to try things in; made once, through the same handlers that serve the API. */
export async function createDemo(deps: Deps): Promise<Demo> {
  const existing = await findWorkspaceByName(deps.db, WORKSPACE);
  return existing === undefined ? makeDemo(deps) : showDemo(deps, existing);
}

async function makeDemo(deps: Deps): Promise<Demo> {
  const { db } = deps;
  const id = await insertWorkspace(db, WORKSPACE);
  const people: Demo['people'] = [];
  for (const { name, email, role } of PEOPLE) {
    const userId = await db.transaction().execute((trx) => joinWorkspace(trx, { workspaceId: id, email, name }));
    const { key } = await issueKey(db, { workspaceId: id, userId, scopes: SCOPES });
    people.push({ id: userId, name, email, role, key });
  }
  return { id, created: true, people, projects: await makeProjects(deps, id, people) };
}

async function makeProjects(deps: Deps, workspaceId: string, people: Demo['people']): Promise<Demo['projects']> {
  const [owner, ...others] = people;
  if (owner === undefined) return [];
  const caller: Caller = { credentialId: 'demo', userId: owner.id, workspaceId, scopes: new Set(SCOPES) };
  const write = <T>(work: (trx: Writer) => Promise<T>) => deps.db.transaction().execute(work);
  const signal = new AbortController().signal;
  const { projects, folders } = rooms(deps);
  const made: Demo['projects'] = [];
  for (const { name, description, folders: folderNames } of PROJECTS) {
    const members = others.flatMap(({ id, role }) => (role === 'PROJECT_OWNER' ? [] : [{ user: { id }, role }]));
    const { data } = await projects.create({
      caller,
      subject: null,
      query: undefined,
      body: { name, description, members },
      write,
      signal,
    });
    const subject = await SUBJECT_FINDERS.project(deps.db, caller, data.id);
    if (subject === undefined) throw new Error('the project that was just made is not visible to its owner');
    for (const folder of folderNames) {
      await folders.create({ caller, subject, query: undefined, body: { name: folder }, write, signal });
    }
    made.push({ id: data.id, name });
  }
  return made;
}

async function showDemo({ db }: Deps, id: string): Promise<Demo> {
  const members = await listWorkspaceMembers(db, id);
  const people = PEOPLE.flatMap(({ email, role }) => {
    const user = members.find((member) => member.user.email === email)?.user;
    return user === undefined ? [] : [{ id: user.id, name: user.name, email, role, key: null }];
  });
  const viewer = { workspaceId: id, userId: people[0]?.id ?? '' };
  const projects = await listProjects(db, viewer, 'createdAt', undefined, { direction: 'asc', from: null });
  return {
    id,
    created: false,
    people,
    projects: projects.items.map(({ id: projectId, name }) => ({ id: projectId, name })),
  };
}
