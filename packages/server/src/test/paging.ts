import { cursorPage, Project } from '@review/contract';
import type { z } from 'zod';
import { fold } from '../db/fold.ts';
import { newUuid } from '../db/ids.ts';
import type { Schema } from '../db/schema.ts';
import type { House, Person } from './house.ts';

const ProjectPage = cursorPage(Project);
export type ProjectPage = z.infer<typeof ProjectPage>;

const AT = '2026-01-01 00:00:00.000000';

/** Inserts projects of that owner with these names and the same time; returns their ids. */
export async function insertProjects({ deps: { db } }: House, owner: Person, names: string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const projects = names.map((name) => ({
    id: newUuid(),
    workspace_id: owner.workspaceId,
    name,
    folded_name: fold(name),
    folded_text: fold(name),
    created_at: AT,
    updated_at: AT,
  }));
  const ids = projects.map(({ id }) => id);
  const role: Schema['project_members']['role'] = 'PROJECT_OWNER';
  const members = ids.map((id) => ({
    id: newUuid(),
    project_id: id,
    user_id: owner.userId,
    role,
    created_at: AT,
  }));
  await db.transaction().execute(async (trx) => {
    await trx.insertInto('projects').values(projects).execute();
    await trx.insertInto('project_members').values(members).execute();
  });
  return ids;
}

/** One page of a person's projects. */
export async function listing(person: Person, body: object): Promise<ProjectPage> {
  return ProjectPage.parse(await person.client.projects.list({ body }));
}

/** All pages from the position, in reading order. */
export async function walk(
  ask: (body: object) => Promise<ProjectPage>,
  start: object,
  way: 'next' | 'prev' = 'next',
): Promise<ProjectPage[]> {
  const pages: ProjectPage[] = [];
  let body = start;
  for (;;) {
    const page = await ask(body);
    pages.push(page);
    const cursor = page.page[way];
    if (cursor === null) return pages;
    if (pages.length > 100) throw new Error('the walk does not end');
    const { next: _next, prev: _prev, ...filters } = { next: null, prev: null, ...start };
    body = { ...filters, [way]: cursor };
  }
}
