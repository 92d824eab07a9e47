import { sql } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { containing } from '../../db/fold.ts';
import { type Params, prepared } from '../../db/prepared.ts';
import type { Database } from '../../db/schema.ts';
import { candidateFinder, MAX_CANDIDATES } from '../../db/search.ts';
import { users } from '../members/queries.ts';
import { liveFiles, RESTRICTED, type Viewer } from '../visibility.ts';

/** What a search is limited to: by the ids that the index has found, or by the keyword itself if these are too many. */
type Asked = Viewer & { projectId?: string | undefined } & ({ ids: readonly string[] } | { keyword: string });
type AskedParams = Params<Viewer & { projectId?: string; ids?: readonly string[]; keyword?: string }>;

/** The viewer's projects with their names, or one of them. */
const seenProjects = (db: Database, { userId, workspaceId, projectId }: AskedParams) => {
  const projects = db
    .selectFrom('project_members as membership')
    .innerJoin('projects as project', 'project.id', 'membership.project_id')
    .where('membership.user_id', '=', userId)
    .where('project.workspace_id', '=', workspaceId);
  return projectId === undefined ? projects : projects.where('project.id', '=', projectId);
};

const MEMBERSHIP = ['project.id as project_id', 'project.name as project_name', 'membership.role'] as const;

const contains = (column: string, keyword: AskedParams['keyword']) =>
  keyword === undefined
    ? sql<boolean>`true`
    : sql<boolean>`${sql.ref(column)} like ${keyword.map(containing)} escape '\\'`;

const listProjects = prepared.all((db, asked: AskedParams) => {
  const projects = seenProjects(db, asked).select([...MEMBERSHIP, 'project.description', 'project.created_at']);
  if (asked.ids !== undefined) return projects.where('project.id', ...anyOf(db, asked.ids));
  return projects
    .where(contains('project.folded_text', asked.keyword))
    .orderBy('project.created_at', 'desc')
    .limit(sql.lit(MAX_CANDIDATES));
});

const listFiles = prepared.all((db, asked: AskedParams) => {
  const files = db
    .selectFrom(liveFiles(db).selectAll().as('file'))
    .innerJoin(seenProjects(db, asked).select(MEMBERSHIP).as('seen'), 'seen.project_id', 'file.project_id')
    .leftJoin('generations as generation', 'generation.file_id', 'file.id')
    .select(['file.id', 'file.name', 'file.description', 'file.created_at', 'generation.prompt'])
    .select(['seen.project_id', 'seen.project_name', 'seen.role'])
    .where((eb) => eb.or([eb('seen.role', '!=', RESTRICTED), eb('file.allow_restricted', '=', 1)]));
  if (asked.ids !== undefined) return files.where('file.id', ...anyOf(db, asked.ids));
  return files
    .where((eb) =>
      eb.or([contains('file.folded_text', asked.keyword), contains('generation.folded_text', asked.keyword)]),
    )
    .orderBy('file.created_at', 'desc')
    .limit(sql.lit(MAX_CANDIDATES));
});

const listComments = prepared.all((db, asked: AskedParams) => {
  const comments = users(db, asked.workspaceId)
    .innerJoin('comments as comment', 'comment.author_id', 'user.id')
    .innerJoin(seenProjects(db, asked).select(MEMBERSHIP).as('seen'), 'seen.project_id', 'comment.project_id')
    .leftJoin(liveFiles(db).select(['id', 'name', 'allow_restricted']).as('file'), 'file.id', 'comment.file_id')
    .select(['comment.id', 'comment.content', 'comment.created_at', 'file.id as file_id', 'file.name as file_name'])
    .select(['seen.project_id', 'seen.project_name'])
    .where('comment.deleted_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('comment.file_id', 'is', null),
        eb('file.allow_restricted', '=', 1),
        eb.and([eb('seen.role', '!=', RESTRICTED), eb('file.id', 'is not', null)]),
      ]),
    );
  if (asked.ids !== undefined) return comments.where('comment.id', ...anyOf(db, asked.ids));
  return comments
    .where(contains('comment.folded_text', asked.keyword))
    .orderBy('comment.created_at', 'desc')
    .limit(sql.lit(MAX_CANDIDATES));
});

/** People of the workspace, or those in the viewer's projects. */
export const listPeople = prepared.all((db, asked: AskedParams, among: 'workspace' | 'projects') =>
  users(db, asked.workspaceId)
    .select(['user.id', 'user.email'])
    .select((eb) => eb.fn.coalesce('person.created_at', 'user.created_at').as('created_at'))
    .where('person.workspace_id', '=', asked.workspaceId)
    .$if(among === 'projects', (people) =>
      people.where('user.id', 'in', (eb) =>
        eb
          .selectFrom('project_members as fellow')
          .select('fellow.user_id')
          .where('fellow.project_id', 'in', seenProjects(db, asked).select('project.id')),
      ),
    ),
);

export const listSkills = prepared.all((db, { workspaceId }: Params<{ workspaceId: string }>) =>
  db.selectFrom('skills').select(['id', 'name', 'description', 'created_at']).where('workspace_id', '=', workspaceId),
);

const candidates = {
  projects: candidateFinder('projects'),
  files: candidateFinder('files'),
  prompts: candidateFinder('generations'),
  comments: candidateFinder('comments'),
};

type Search = Viewer & { projectId?: string | undefined; keyword: string };

/** Asks the index for the rows that may contain the keyword, and reads those; the newest that do if they are too many. */
function searchBy<Row>(
  finders: ((db: Database, keyword: string) => Promise<readonly string[] | null>)[],
  read: (db: Database, asked: Asked) => Promise<Row[]>,
) {
  return async (db: Database, { keyword, ...where }: Search): Promise<Row[]> => {
    const found: string[] = [];
    for (const find of finders) {
      const ids = await find(db, keyword);
      if (ids === null) return read(db, { ...where, keyword });
      found.push(...ids);
    }
    return found.length === 0 ? [] : read(db, { ...where, ids: [...new Set(found)] });
  };
}

/** Each returns more than matches: the index compares trigrams only. */
export const searchProjects = searchBy([candidates.projects], listProjects);
export const searchFiles = searchBy([candidates.files, candidates.prompts], listFiles);
export const searchComments = searchBy([candidates.comments], listComments);
