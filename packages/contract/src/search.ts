import { z } from 'zod';
import { list } from './collections.ts';
import { QUERY, room } from './endpoint.ts';
import { FileId, reference, Uuid } from './ids.ts';
import { cursorPage, cursorQuery } from './paging.ts';
import { text } from './text.ts';
import { Timestamp } from './time.ts';

export const SEARCH_TYPES = ['PROJECT', 'FILE', 'COMMENT', 'PERSON', 'SKILL'] as const;
export const SearchType = z.enum(SEARCH_TYPES).meta({ id: 'SearchType' });
export type SearchType = z.infer<typeof SearchType>;

const named = <Id extends z.ZodType<string>>(id: Id) => z.object({ id, name: z.string() });

export const SearchResult = z
  .object({
    type: SearchType,
    /** Of the project, file, comment, user or skill. */
    id: z.string(),
    /** The name; of a comment, that of its author. */
    title: z.string(),
    /** The part of the description, prompt, comment or address that contains the keyword; null if only the title does. */
    excerpt: z.string().nullable(),
    /** Null for people and skills. */
    project: named(Uuid).nullable(),
    /** The file that a comment is on. */
    file: named(FileId).nullable(),
    createdAt: Timestamp,
  })
  .meta({ id: 'SearchResult' });
export type SearchResult = z.infer<typeof SearchResult>;

export const search = room({
  find: {
    method: QUERY,
    path: '/api/search',
    summary: 'Search projects, files, comments, people and skills, best first',
    description:
      'Finds what contains the keyword: projects and skills by name and description, files also by prompt, comments by content, people by name and e-mail address. The result has only what the caller may read, by scope and role. Of a frequent keyword, the newest 1000 of each type are found.',
    body: cursorQuery({
      keyword: text({ min: 1, max: 100 }).describe('Matches anywhere, regardless of case.'),
      types: list(SearchType, { min: 1, max: SEARCH_TYPES.length }).optional().describe('Only results of these types.'),
      project: reference(Uuid).optional().describe('Only this project, with its files, comments and members.'),
    }),
    responses: { 200: cursorPage(SearchResult) },
    metadata: {
      tier: 'tier-4',
      scopes: [
        'projects:read',
        'files:read',
        'comments:read',
        'workspace-members:read',
        'project-members:read',
        'skills:read',
      ],
      subject: null,
      roles: [],
      problems: ['REFERENCE_NOT_FOUND'],
    },
  },
});
