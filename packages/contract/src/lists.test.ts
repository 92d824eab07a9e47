import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { contract } from './index.ts';
import { ids, refusal } from './test/refusal.ts';

const generate = { outputType: 'IMAGE', outputModel: 'gpt-image-2', prompt: 'a', folder: null };

describe('lists', () => {
  const fileId = (n: number) => ({ id: `FX${String(n).padStart(20, '0')}` });
  const many = <T>(count: number, item: (index: number) => T) =>
    Array.from({ length: count }, (_, index) => item(index));

  it('a generation takes 0 to 5 attachments', () => {
    const asked = (count: number) => ({ ...generate, attachments: many(count, fileId) });
    expect(refusal(contract.generation.generate.body, asked(0))).toEqual([]);
    expect(refusal(contract.generation.generate.body, asked(5))).toEqual([]);
    expect(refusal(contract.generation.generate.body, asked(6))).toEqual(['/attachments TOO_MANY']);
  });

  it.each([contract.comments.create.body, contract.comments.createOnFile.body])(
    'a comment takes 1 to 10 attachments, none twice',
    (schema: z.ZodType) => {
      const asked = (count: number) => ({ attachments: many(count, (n) => ({ id: ids.commentAttachment(n) })) });
      expect(refusal(schema, asked(1))).toEqual([]);
      expect(refusal(schema, asked(10))).toEqual([]);
      expect(refusal(schema, { content: 'a', ...asked(0) })).toEqual(['/attachments TOO_FEW']);
      expect(refusal(schema, asked(11))).toEqual(['/attachments TOO_MANY']);
      const twice = { attachments: [{ id: ids.commentAttachment() }, { id: ids.commentAttachment() }] };
      expect(refusal(schema, twice)).toEqual(['/attachments/1/id DUPLICATE']);
    },
  );

  it('at least one member is added, none twice, no owner', () => {
    const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    const member = (n: number) => ({ user: { id: uuid(n) }, role: 'PROJECT_MEMBER' });
    const { body } = contract.members.add;
    expect(refusal(body, { members: [member(1)] })).toEqual([]);
    expect(refusal(body, { members: many(100, member) })).toEqual([]);
    expect(refusal(body, { members: [] })).toEqual(['/members TOO_FEW']);
    expect(refusal(body, { members: many(101, member) })).toEqual(['/members TOO_MANY']);
    expect(refusal(body, { members: [member(1), member(2), member(1)] })).toEqual(['/members/2/user/id DUPLICATE']);
    expect(refusal(body, { members: [{ ...member(1), role: 'PROJECT_OWNER' }] })).toEqual([
      '/members/0/role INVALID_VALUE',
    ]);
  });

  it('an upload is completed with at least one part', () => {
    const { body } = contract.attachments.complete;
    expect(refusal(body, { parts: [] })).toEqual(['/parts TOO_FEW']);
    expect(refusal(body, { parts: many(10_000, (n) => ({ partNumber: n + 1, eTag: '"a"' })) })).toEqual([]);
    expect(refusal(body, {})).toEqual(['/parts REQUIRED']);
  });

  it('next and prev exclude each other', () => {
    const { body } = contract.comments.list;
    expect(refusal(body, { next: 'a' })).toEqual([]);
    expect(refusal(body, { prev: 'a' })).toEqual([]);
    expect(refusal(body, { next: 'a', prev: 'b' })).toEqual(['/prev BOTH_CURSORS']);
  });
});
