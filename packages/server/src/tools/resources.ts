import { text } from 'node:stream/consumers';
import type { Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import { contract, FileId, SkillId } from '@review/contract';
import type { z } from 'zod';
import type { Deps } from '../deps.ts';
import { findVisibleFile } from '../files/queries.ts';
import type { Operations } from './operations.ts';
import { run, type Visit } from './run.ts';

/** The longest text that is handed over whole; anything longer is fetched by its link. */
const TEXT_LIMIT = 1024 * 1024;

interface Kind {
  /** The endpoint that reads it. */
  operation: string;
  id: z.ZodType<string>;
  template: ResourceTemplateType;
}

const KINDS: readonly Kind[] = [
  {
    operation: 'files.get',
    id: FileId,
    template: {
      uriTemplate: 'review://files/{id}',
      name: 'file',
      title: 'A file',
      description: 'What is known of a file: its name, status, size and how it was generated.',
      mimeType: 'application/json',
    },
  },
  {
    operation: 'files.download',
    id: FileId,
    template: {
      uriTemplate: 'review://files/{id}/content',
      name: 'file-content',
      title: 'The content of a file',
      description: 'The text of a Markdown or plain text file; of any other file, a link to download it for an hour.',
    },
  },
  {
    operation: 'skills.export',
    id: SkillId,
    template: {
      uriTemplate: 'review://skills/{id}/SKILL.md',
      name: 'skill',
      title: 'A skill',
      description: 'The default version of a skill as an Agent Skills SKILL.md.',
      mimeType: 'text/markdown',
    },
  },
];

/** The templates of what the caller's scopes open. */
export const readableTemplates = (operations: Operations, { caller }: Visit): ResourceTemplateType[] =>
  KINDS.filter(({ operation }) => operations.opens(operation, caller)).map(({ template }) => template);

/** The endpoint behind an address, and the id in it. */
export function resourceAt(uri: string): { operation: string; id: string } | undefined {
  for (const { template, operation, id } of KINDS) {
    const [before = '', after = ''] = template.uriTemplate.split('{id}');
    if (!uri.startsWith(before) || !uri.endsWith(after)) continue;
    const parsed = id.safeParse(uri.slice(before.length, uri.length - after.length));
    if (parsed.success) return { operation, id: parsed.data };
  }
  return undefined;
}

export const fileUri = (id: string) => `review://files/${id}`;

const SkillPage = contract.skills.list.responses[200];

/** A page of the published skills; files are found by the tools and by their templates. */
export async function listResources(
  deps: Deps,
  visit: Visit,
  operations: Operations,
  cursor: string | undefined,
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  if (!operations.opens('skills.list', visit.caller)) return { resources: [] };
  const given = { body: cursor === undefined ? {} : { next: cursor } };
  const { data, page } = SkillPage.parse(await run(deps, visit, operations.get('skills.list'), given));
  const resources = data.flatMap(({ id, name, description, default: published }) =>
    published === null
      ? []
      : [{ uri: `review://skills/${id}/SKILL.md`, name, title: name, description, mimeType: 'text/markdown' }],
  );
  return { resources, ...(page.next !== null && { nextCursor: page.next }) };
}

export async function readResource(deps: Deps, visit: Visit, operations: Operations, uri: string) {
  const found = resourceAt(uri);
  if (found === undefined) return undefined;
  const answer = await run(deps, visit, operations.get(found.operation), { id: found.id });
  if (typeof answer === 'string') return { uri, mimeType: 'text/markdown', text: answer };
  const content = found.operation === 'files.download' ? await textOf(deps, visit, found.id) : null;
  if (content !== null) return { uri, ...content };
  return { uri, mimeType: 'application/json', text: JSON.stringify(answer) };
}

async function textOf({ db, storage }: Deps, { caller }: Visit, id: string) {
  const file = await findVisibleFile(db, caller, id);
  const { mimeType = null, size = null, storageKey = null } = file ?? {};
  if (mimeType === null || size === null || storageKey === null) return null;
  if (!/^text\/(markdown|plain)\b/.test(mimeType) || size > TEXT_LIMIT) return null;
  return { mimeType, text: await text(await storage.read(storageKey)) };
}
