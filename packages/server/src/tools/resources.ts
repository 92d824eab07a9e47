import { text } from 'node:stream/consumers';
import type { Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import { contract } from '@review/contract';
import type { Deps } from '../deps.ts';
import { findVisibleFile } from '../rooms/files/queries.ts';
import type { Operations } from './operations.ts';
import { RESOURCE_KINDS, resourceAt } from './resource-kinds.ts';
import { run, type ToolRequest } from './run.ts';

/** Larger texts are returned as a download link. */
const MAX_TEXT_BYTES = 1024 * 1024;

/** The templates of the resources that the caller has a scope for. */
export const readableTemplates = (operations: Operations, { caller }: ToolRequest): ResourceTemplateType[] =>
  RESOURCE_KINDS.filter(({ operation }) => operations.hasScope(operation, caller)).map(({ template }) => template);

const SkillPage = contract.skills.list.responses[200];

/** Lists a page of the published skills. Files are not listed: the tools and the templates find them. */
export async function listResources(
  deps: Deps,
  toolRequest: ToolRequest,
  operations: Operations,
  cursor: string | undefined,
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  if (!operations.hasScope('skills.list', toolRequest.caller)) return { resources: [] };
  const given = { body: cursor === undefined ? {} : { next: cursor } };
  const { data, page } = SkillPage.parse(await run(deps, toolRequest, operations.get('skills.list'), given));
  const resources = data.flatMap(({ id, name, description, default: published }) =>
    published === null
      ? []
      : [{ uri: `review://skills/${id}/SKILL.md`, name, title: name, description, mimeType: 'text/markdown' }],
  );
  return { resources, ...(page.next !== null && { nextCursor: page.next }) };
}

export async function readResource(deps: Deps, toolRequest: ToolRequest, operations: Operations, uri: string) {
  const found = resourceAt(uri);
  if (found === undefined) return undefined;
  const answer = await run(deps, toolRequest, operations.get(found.operation), { id: found.id });
  if (typeof answer === 'string') return { uri, mimeType: 'text/markdown', text: answer };
  const content = found.operation === 'files.download' ? await textOf(deps, toolRequest, found.id) : null;
  if (content !== null) return { uri, ...content };
  return { uri, mimeType: 'application/json', text: JSON.stringify(answer) };
}

async function textOf({ db, storage }: Deps, { caller }: ToolRequest, id: string) {
  const file = await findVisibleFile(db, { ...caller, id });
  const { mime_type: mimeType = null, size = null, storage_key: key = null } = file ?? {};
  if (mimeType === null || size === null || key === null) return null;
  if (!/^text\/(markdown|plain)\b/.test(mimeType) || size > MAX_TEXT_BYTES) return null;
  return { mimeType, text: await text(await storage.read(key)) };
}
