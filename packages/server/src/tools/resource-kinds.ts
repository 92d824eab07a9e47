import type { ResourceTemplateType } from '@modelcontextprotocol/server';
import { FileId, SkillId } from '@review/contract';
import type { z } from 'zod';

interface ResourceKind {
  /** The operation that reads it. */
  operation: string;
  id: z.ZodType<string>;
  template: ResourceTemplateType;
}

export const RESOURCE_KINDS: readonly ResourceKind[] = [
  {
    operation: 'files.get',
    id: FileId,
    template: {
      uriTemplate: 'review://files/{id}',
      name: 'file',
      title: 'A file',
      description: 'The record of a file: its name, status, size and how it was generated.',
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
      description:
        'The text of a Markdown or plain text file; for any other file, a download link that is valid for an hour.',
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

/** Returns the operation that reads a resource URI, and the id in it. */
export function resourceAt(uri: string): { operation: string; id: string } | undefined {
  for (const { template, operation, id } of RESOURCE_KINDS) {
    const [before = '', after = ''] = template.uriTemplate.split('{id}');
    if (!uri.startsWith(before) || !uri.endsWith(after)) continue;
    const parsed = id.safeParse(uri.slice(before.length, uri.length - after.length));
    if (parsed.success) return { operation, id: parsed.data };
  }
  return undefined;
}

export const fileUri = (id: string) => `review://files/${id}`;
