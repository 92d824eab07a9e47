import { type ProjectRole, SCOPES } from '@review/contract';
import { z } from 'zod';
import { findWorkspaceByName, insertWorkspace, joinWorkspace } from '../accounts/queries.ts';
import { createApp } from '../app.ts';
import { issueKey } from '../credentials/issue.ts';
import type { Deps } from '../deps.ts';
import { listen } from '../listen.ts';
import { listWorkspaceMembers } from '../rooms/members/queries.ts';
import { listProjects } from '../rooms/projects/queries.ts';
import { type Call, Created, fillProject, makeSkill } from './demo-content.ts';

const WORKSPACE = 'Demo studio';

const PEOPLE: { name: string; email: string; role: ProjectRole }[] = [
  { name: 'Olive Owner', email: 'olive@demo.example', role: 'PROJECT_OWNER' },
  { name: 'Max Manager', email: 'max@demo.example', role: 'PROJECT_MANAGER' },
  { name: 'Mia Member', email: 'mia@demo.example', role: 'PROJECT_MEMBER' },
  { name: 'Rui Reviewer', email: 'rui@demo.example', role: 'PROJECT_REVIEWER' },
  { name: 'Rae Restricted', email: 'rae@demo.example', role: 'PROJECT_RESTRICTED_REVIEWER' },
];

const PROJECTS = [
  { name: 'Spring campaign', description: 'Three films and the stills for them.' },
  { name: 'Product film', description: 'Sixty seconds about the new lamp.' },
];

export interface Demo {
  id: string;
  created: boolean;
  people: { id: string; name: string; email: string; role: ProjectRole; key: string | null }[];
  projects: { id: string; name: string }[];
}

/** Creates the demo workspace, or returns the existing one without its keys. */
export async function createDemo(deps: Deps): Promise<Demo> {
  const existing = await findWorkspaceByName(deps.db, WORKSPACE);
  return existing === undefined ? makeDemo(deps) : showDemo(deps, existing);
}

/** Inserts people and keys into the database and creates the rest through the API. */
async function makeDemo(deps: Deps): Promise<Demo> {
  const { db } = deps;
  const id = await insertWorkspace(db, WORKSPACE);
  const people: (Demo['people'][number] & { key: string })[] = [];
  for (const { name, email, role } of PEOPLE) {
    const userId = await db.transaction().execute((trx) => joinWorkspace(trx, { workspaceId: id, email, name }));
    const { key } = await issueKey(db, { workspaceId: id, userId, scopes: SCOPES });
    people.push({ id: userId, name, email, role, key });
  }
  await using listening = await listen(createApp(deps), { host: '127.0.0.1', port: 0 }, 1);
  const base = `http://127.0.0.1:${listening.port}`;
  const [owner, ...others] = people.map(({ key }) => callWith(base, key));
  if (owner === undefined) throw new Error('The list of demo people is empty.');
  const members = people.slice(1).map(({ id: userId, role }) => ({ user: { id: userId }, role }));
  const projects: Demo['projects'] = [];
  for (const project of PROJECTS) {
    const made = Created.parse(await owner('POST', '/api/projects', { ...project, members }));
    const onThisHost = (url: string) => url.replace(deps.config.publicUrl, base);
    await fillProject({ owner, others, projectId: made.id, onThisHost });
    projects.push({ id: made.id, name: project.name });
  }
  await makeSkill(owner);
  return { id, created: true, people, projects };
}

function callWith(base: string, key: string): Call {
  return async (method, path, body) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await fetch(base + path, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}: ${text}`);
    return text === '' ? undefined : z.object({ data: z.unknown() }).parse(JSON.parse(text)).data;
  };
}

async function showDemo({ db }: Deps, id: string): Promise<Demo> {
  const members = await listWorkspaceMembers(db, id);
  const people = PEOPLE.flatMap(({ email, role }) => {
    const member = members.find((listed) => listed.email === email);
    return member === undefined ? [] : [{ id: member.user_id, name: member.name, email, role, key: null }];
  });
  const viewer = { workspaceId: id, userId: people[0]?.id ?? '' };
  const projects = await listProjects(db, { direction: 'asc', from: null }, viewer, { sort: 'createdAt' });
  return {
    id,
    created: false,
    people,
    projects: projects.items.map(({ id: projectId, name }) => ({ id: projectId, name })),
  };
}
