import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { contract } from './index.ts';
import { astral, ids, refusal } from './test/refusal.ts';
import { text } from './text.ts';

const generate = { outputType: 'IMAGE', outputModel: 'gpt-image-2', prompt: 'a', folder: null, attachments: [] };
const upload = { name: 'clip.mp4', size: 1 };
const part = { partNumber: 1, eTag: 'a' };
const publish = { content: '# Skill' };
const skill = { name: 'a', description: 'a' };

interface Bound {
  where: string;
  schema: z.ZodType;
  /** The request with one value in the bounded place. */
  request: (value: unknown) => unknown;
  pointer: string;
}
const lengths: (Bound & { min: number; max: number })[] = [
  {
    where: 'Generate File prompt',
    schema: contract.generation.generate.body,
    request: (prompt) => ({ ...generate, prompt }),
    pointer: '/prompt',
    min: 1,
    max: 5000,
  },
  {
    where: 'folder name',
    schema: contract.folders.create.body,
    request: (name) => ({ name }),
    pointer: '/name',
    min: 1,
    max: 64,
  },
  {
    where: 'folder name in an update',
    schema: contract.folders.update.body,
    request: (name) => ({ name }),
    pointer: '/name',
    min: 1,
    max: 64,
  },
  {
    where: 'project comment content',
    schema: contract.comments.create.body,
    request: (content) => ({ content, attachments: [{ id: ids.commentAttachment() }] }),
    pointer: '/content',
    min: 0,
    max: 5000,
  },
  {
    where: 'file comment content',
    schema: contract.comments.createOnFile.body,
    request: (content) => ({ content, attachments: [{ id: ids.commentAttachment() }] }),
    pointer: '/content',
    min: 0,
    max: 5000,
  },
  {
    where: 'eTag of an uploaded part',
    schema: contract.attachments.complete.body,
    request: (eTag) => ({ parts: [{ ...part, eTag }] }),
    pointer: '/parts/0/eTag',
    min: 1,
    max: 255,
  },
  {
    where: 'skill name',
    schema: contract.skills.update.body,
    request: (name) => ({ name }),
    pointer: '/name',
    min: 1,
    max: 100,
  },
  {
    where: 'skill description',
    schema: contract.skills.update.body,
    request: (description) => ({ description }),
    pointer: '/description',
    min: 1,
    max: 1024,
  },
  {
    where: 'name of a new skill',
    schema: contract.skills.create.body,
    request: (name) => ({ ...skill, name }),
    pointer: '/name',
    min: 1,
    max: 100,
  },
  {
    where: 'skill version note',
    schema: contract.skills.publish.body,
    request: (note) => ({ ...publish, note }),
    pointer: '/note',
    min: 1,
    max: 1024,
  },
  {
    where: 'name of an upload',
    schema: contract.files.startUpload.body,
    request: (name) => ({ ...upload, name }),
    pointer: '/name',
    min: 1,
    max: 255,
  },
  {
    where: 'project name',
    schema: contract.projects.create.body,
    request: (name) => ({ name }),
    pointer: '/name',
    min: 1,
    max: 100,
  },
  {
    where: 'version name',
    schema: contract.versions.create.body,
    request: (name) => ({ name }),
    pointer: '/name',
    min: 1,
    max: 100,
  },
  {
    where: 'keyword',
    schema: contract.projects.list.body,
    request: (keyword) => ({ keyword }),
    pointer: '/keyword',
    min: 1,
    max: 100,
  },
];

describe.each(lengths)('$where: $min to $max characters', ({ schema, request, pointer, min, max }) => {
  it.each([
    ['plain letters', (count: number) => 'a'.repeat(count)],
    ['emoji of two units each', astral],
  ])('counts %s by code point', (_, written) => {
    expect(refusal(schema, request(written(min)))).toEqual([]);
    expect(refusal(schema, request(written(max)))).toEqual([]);
    expect(refusal(schema, request(written(max + 1)))).toEqual([`${pointer} TOO_LONG`]);
    if (min > 0) expect(refusal(schema, request(''))).toEqual([`${pointer} TOO_SHORT`]);
  });

  it('refuses NUL and lone surrogates', () => {
    expect(refusal(schema, request('a\0b'))).toContain(`${pointer} INVALID_TEXT`);
    expect(refusal(schema, request('a\ud83d'))).toContain(`${pointer} INVALID_TEXT`);
  });
});

const numbers: (Bound & { min: number; max: number })[] = [
  {
    where: 'number of an uploaded part',
    schema: contract.files.completeUpload.body,
    request: (partNumber) => ({ parts: [{ ...part, partNumber }] }),
    pointer: '/parts/0/partNumber',
    min: 1,
    max: 10_000,
  },
  {
    where: 'page of a list of versions',
    schema: contract.versions.list.query,
    request: (page) => ({ page }),
    pointer: '/page',
    min: 1,
    max: 100,
  },
  {
    where: 'seconds that Get File waits',
    schema: contract.files.get.query,
    request: (wait) => ({ wait }),
    pointer: '/wait',
    min: 0,
    max: 60,
  },
];

describe.each(numbers)('$where: $min to $max', ({ schema, request, pointer, min, max }) => {
  it('accepts both bounds and nothing beyond', () => {
    expect(refusal(schema, request(min))).toEqual([]);
    expect(refusal(schema, request(max))).toEqual([]);
    expect(refusal(schema, request(min - 1))).toEqual([`${pointer} TOO_SMALL`]);
    expect(refusal(schema, request(max + 1))).toEqual([`${pointer} TOO_LARGE`]);
    expect(refusal(schema, request(min + 0.5))).toEqual([`${pointer} INVALID_TYPE`]);
  });
});

describe('query parameters', () => {
  const { query } = contract.versions.list;
  it('are read from text, whole numbers only', () => {
    expect(query.parse({ page: '100', 'sort.type': 'name' })).toEqual({
      page: 100,
      'sort.type': 'name',
      'sort.direction': 'desc',
    });
    for (const page of ['0', '101', '1e1', ' 1', '1.0', '-1', '', 'one']) {
      expect(refusal(query, { page }), page).toHaveLength(1);
    }
  });

  it('have the defaults of the specification', () => {
    expect(query.parse({})).toEqual({ page: 1, 'sort.type': 'createdAt', 'sort.direction': 'desc' });
    expect(contract.files.get.query.parse({})).toEqual({ wait: 0 });
    expect(contract.comments.list.body.parse({}).sort).toEqual({ type: 'createdAt', direction: 'asc' });
    expect(contract.projects.list.body.parse({}).sort).toEqual({ type: 'updatedAt', direction: 'desc' });
  });
});

it('counts code points as iteration does', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 12 }), fc.integer({ min: 0, max: 12 }), (value, max) => {
      const fits = [...value].length <= max && !value.includes('\0');
      expect(text({ max }).safeParse(value).success).toBe(fits);
    }),
  );
});
