import { type Contract, mentionedIn, PAGE_SIZE, type SearchResult, type SearchType, withNames } from '@review/contract';
import { rangeOf, toPage } from '../../db/cursor.ts';
import { fold } from '../../db/fold.ts';
import type { Database } from '../../db/schema.ts';
import type { Deps } from '../../deps.ts';
import type { Caller } from '../../request/caller.ts';
import { cursors } from '../../request/cursors.ts';
import { referenceNotFound } from '../../request/problem.ts';
import type { Handlers } from '../handler.ts';
import { findWorkspacePeople } from '../members/queries.ts';
import { findVisibleProject } from '../projects/queries.ts';
import { isRestricted } from '../visibility.ts';
import { listPeople, listSkills, searchComments, searchFiles, searchProjects } from './queries.ts';
import { matchOf } from './rank.ts';

interface Asked {
  caller: Caller;
  keyword: string;
  projectId: string | undefined;
}

/** A result before it is ranked, with the texts that may contain the keyword. */
type Found = Omit<SearchResult, 'excerpt' | 'type'> & { texts: (string | null)[]; isTitleSearched: boolean };

const found = (own: Pick<Found, 'id' | 'title' | 'createdAt' | 'texts'> & Partial<Found>): Found => ({
  project: null,
  file: null,
  isTitleSearched: true,
  ...own,
});

const projectOf = (row: { project_id: string; project_name: string }) => ({
  id: row.project_id,
  name: row.project_name,
});

/** What the caller may read of each type. A type without its scope has no results. */
const SEARCHES: Record<SearchType, (db: Database, asked: Asked) => Promise<Found[]>> = {
  async PROJECT(db, { caller, ...asked }) {
    if (!caller.scopes.has('projects:read')) return [];
    const rows = await searchProjects(db, { ...viewer(caller), ...asked });
    return rows.map((row) =>
      found({
        id: row.project_id,
        title: row.project_name,
        texts: [row.description],
        project: projectOf(row),
        createdAt: row.created_at,
      }),
    );
  },

  async FILE(db, { caller, ...asked }) {
    if (!caller.scopes.has('files:read')) return [];
    const rows = await searchFiles(db, { ...viewer(caller), ...asked });
    return rows.map((row) =>
      found({
        id: row.id,
        title: row.name,
        texts: [row.description, isRestricted(row.role) ? null : row.prompt],
        project: projectOf(row),
        createdAt: row.created_at,
      }),
    );
  },

  async COMMENT(db, { caller, ...asked }) {
    if (!caller.scopes.has('comments:read')) return [];
    const rows = await searchComments(db, { ...viewer(caller), ...asked });
    const userIds = [...new Set(rows.flatMap(({ content }) => mentionedIn(content)))];
    const people = await findWorkspacePeople(db, { workspaceId: caller.workspaceId, userIds });
    return rows.map((row) =>
      found({
        id: row.id,
        title: row.name,
        isTitleSearched: false,
        texts: [withNames(row.content ?? '', people)],
        project: projectOf(row),
        file: row.file_id === null || row.file_name === null ? null : { id: row.file_id, name: row.file_name },
        createdAt: row.created_at,
      }),
    );
  },

  async PERSON(db, { caller, projectId }) {
    const seesAll = caller.scopes.has('workspace-members:read') && projectId === undefined;
    if (!seesAll && !caller.scopes.has('project-members:read')) return [];
    const rows = await listPeople(db, { ...viewer(caller), projectId }, seesAll ? 'workspace' : 'projects');
    return rows.map((row) => found({ id: row.id, title: row.name, texts: [row.email], createdAt: row.created_at }));
  },

  async SKILL(db, { caller, projectId }) {
    if (!caller.scopes.has('skills:read') || projectId !== undefined) return [];
    const rows = await listSkills(db, { workspaceId: caller.workspaceId });
    return rows.map((row) =>
      found({ id: row.id, title: row.name, texts: [row.description], createdAt: row.created_at }),
    );
  },
};

const viewer = ({ userId, workspaceId }: Caller) => ({ userId, workspaceId });

export const search = ({ db, secrets }: Deps): Handlers<Contract['search']> => ({
  async find({ caller, body: { keyword, types, project, next, prev } }) {
    if (project && !(await findVisibleProject(db, { ...viewer(caller), id: project.id })))
      throw referenceNotFound('/project/id');
    const pages = cursors(secrets.cursor, 'search', { user: caller.userId, keyword, types, project });
    const page = { direction: 'desc', from: pages.position({ next, prev }) } as const;
    const asked = { caller, keyword, projectId: project?.id };
    const ranked: (SearchResult & { key: string })[] = [];
    for (const type of new Set(types ?? (Object.keys(SEARCHES) as SearchType[]))) {
      for (const { texts, isTitleSearched, ...result } of await SEARCHES[type](db, asked)) {
        const match = matchOf(fold(keyword), isTitleSearched ? result.title : '', texts);
        if (match === null) continue;
        const { score, excerpt } = match;
        ranked.push({ ...result, type, excerpt, key: `${score} ${result.createdAt}` });
      }
    }
    return pages.answer(toPage(inRange(ranked, rangeOf(page)), page, 'key'), (result) => result);
  },
});

/** The first rows of a range: those of a page and one more. */
function inRange<Row extends { key: string; id: string }>(
  rows: Row[],
  { order, from }: ReturnType<typeof rangeOf>,
): Row[] {
  const way = order === 'asc' ? 1 : -1;
  const compare = (a: readonly [string, string], b: readonly [string, string]) =>
    way * (compareText(a[0], b[0]) || compareText(a[1], b[1]));
  const isBeyond = ({ key, id }: Row) => {
    if (from === null) return true;
    const distance = compare([key, id], from.key);
    return from.inclusive ? distance >= 0 : distance > 0;
  };
  return rows
    .filter(isBeyond)
    .sort((a, b) => compare([a.key, a.id], [b.key, b.id]))
    .slice(0, PAGE_SIZE + 1);
}

const compareText = (a: string, b: string) => (a < b ? -1 : Number(a > b));
