import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { StoredSkill } from './queries.ts';
import { skillMd } from './skill-md.ts';

const ID = 'SK0123456789ABCDEFGHJK';
const NAME_OF_THE_FORMAT = /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/;

interface Fields extends Partial<Pick<StoredSkill, 'name' | 'description' | 'license'>> {
  metadata?: Record<string, string>;
  allowedTools?: string[];
}

const skill = ({ metadata, allowedTools, ...fields }: Fields = {}): StoredSkill => ({
  id: ID,
  workspace_id: '',
  name: 'a',
  description: 'b',
  metadata: metadata ? JSON.stringify(metadata) : null,
  allowed_tools: allowedTools ? JSON.stringify(allowedTools) : null,
  license: null,
  default_version_id: null,
  created_at: '',
  updated_at: '',
  ...fields,
});

function frontMatter(of: StoredSkill, version?: '1.1'): Record<string, unknown> {
  const text = skillMd(of, 'CONTENT');
  expect(text.startsWith('---\n') && text.endsWith('---\n\nCONTENT')).toBe(true);
  return parse(text.slice(4, -'---\n\nCONTENT'.length), version && { version });
}

const nameOf = (name: string) => frontMatter(skill({ name }))['name'];

/** What the contract accepts: any text without NUL. */
const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0'));

describe('the name', () => {
  test.each([
    ['Colour Check', 'colour-check'],
    ['  --Colour__&__Check!--  ', 'colour-check'],
    ['Éclairage à São Paulo', 'eclairage-a-sao-paulo'],
    ['Take 2', 'take-2'],
    ['x'.repeat(100), 'x'.repeat(64)],
    [`${'x'.repeat(63)} y`, 'x'.repeat(63)],
    ['\u{1F3AC}', 'skill-sk0123456789abcdefghjk'],
  ])('%s becomes %s', (name, expected) => {
    expect(nameOf(name)).toBe(expected);
  });

  test('is always valid in the format', () => {
    fc.assert(
      fc.property(text, (name) => {
        expect(nameOf(name)).toMatch(NAME_OF_THE_FORMAT);
      }),
    );
  });
});

test('missing fields are left out, the display name never', () => {
  expect(frontMatter(skill({ name: 'A' }))).toEqual({ name: 'a', description: 'b', metadata: { 'display-name': 'A' } });
});

test('the name of the skill overrides display-name in its metadata', () => {
  const { metadata } = frontMatter(skill({ name: 'Real', metadata: { 'display-name': 'Claimed' } }));
  expect(metadata).toEqual({ 'display-name': 'Real' });
});

test('tools are separated by spaces, or a list if one contains a space', () => {
  const tools = (allowedTools: string[]) => frontMatter(skill({ allowedTools }))['allowed-tools'];
  expect(tools(['Bash(git:*)', 'Read'])).toBe('Bash(git:*) Read');
  expect(tools(['Bash(git add:*)', 'Read'])).toEqual(['Bash(git add:*)', 'Read']);
  expect(tools([])).toBeUndefined();
});

test.each([
  'yes',
  'no',
  'null',
  '~',
  '1.0',
  '0o7',
  '1_000',
  '2026-01-01',
  '12:30:00',
  'true',
  '- a',
  '# a',
  'a: b',
  '',
])('%j stays a string for parsers of YAML 1.2 and 1.1', (value) => {
  const of = skill({ description: value, license: value, metadata: { [value]: value } });
  const expected = { description: value, license: value, metadata: { [value]: value, 'display-name': 'a' } };
  expect(frontMatter(of)).toMatchObject(expected);
  expect(frontMatter(of, '1.1')).toMatchObject(expected);
});

test('any text is parsed back unchanged, and none ends the front matter early', () => {
  fc.assert(
    fc.property(text, text, text, text, (description, license, key, value) => {
      const read = frontMatter(skill({ description, license, metadata: { [key]: value } }));
      expect(read).toMatchObject({ description, license });
      expect(read['metadata']).toEqual({ [key]: value, 'display-name': 'a' });
    }),
  );
  for (const description of ['a\n---\nb', '---', 'a\r\nb', ' a\n  b\n', '\n', 'a\u2028b\u0085c']) {
    const document = skillMd(skill({ description }), 'CONTENT');
    expect(document.match(/^---$/gm)).toHaveLength(2);
    expect(frontMatter(skill({ description }))['description']).toBe(description);
  }
});
