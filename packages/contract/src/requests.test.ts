import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { contract, fieldErrors, type Room } from './index.ts';
import { ids, refusal, refusedFields } from './test/refusal.ts';

const rooms: Record<string, Room> = contract;
const schemas = Object.entries(rooms).flatMap(([room, verbs]) =>
  Object.entries(verbs).flatMap(([verb, route]) =>
    [
      { name: `${room}.${verb} body`, schema: 'body' in route ? route.body : undefined },
      { name: `${room}.${verb} query`, schema: route.query },
    ].flatMap(({ name, schema }) => (schema instanceof z.ZodType ? [{ name, schema }] : [])),
  ),
);

it.each(schemas)('$name refuses an unknown field', ({ schema }) => {
  expect(refusal(schema, { surprise: 1 })).toContain('/surprise UNKNOWN_FIELD');
});

it.each(schemas.filter(({ name }) => name.endsWith('body')))('$name is an object', ({ schema }) => {
  for (const input of [null, [], 'text', 1]) expect(refusal(schema, input)).toEqual([' INVALID_TYPE']);
});

it.each(['projects', 'folders', 'files', 'versions', 'comments', 'skills'] as const)(
  'an update in %s may leave every field out',
  (room) => {
    expect(refusal(contract[room].update.body, {})).toEqual([]);
  },
);

const DRAWING = {
  version: 1,
  shapes: [{ type: 'LINE', from: [0, 0], to: [1, 1], color: '#e03131', strokeWidth: 0.004 }],
};

describe('comments', () => {
  const bodies: [string, z.ZodType][] = [
    ['on a project', contract.comments.create.body],
    ['on a file', contract.comments.createOnFile.body],
  ];
  it.each(bodies)('%s need content or attachments', (_, body) => {
    const attachments = [{ id: ids.commentAttachment() }];
    expect(refusal(body, { content: 'a' })).toEqual([]);
    expect(refusal(body, { attachments })).toEqual([]);
    expect(refusal(body, { content: '', attachments })).toEqual([]);
    expect(refusal(body, {})).toEqual(['/content EMPTY_COMMENT']);
    expect(refusal(body, { content: '' })).toEqual(['/content EMPTY_COMMENT']);
    expect(refusal(body, { parent: { id: ids.uuid } })).toEqual(['/content EMPTY_COMMENT']);
  });

  it.each(bodies)('%s refuse malformed ids', (_, body) => {
    expect(refusal(body, { content: 'a', parent: { id: 'x' } })).toEqual(['/parent/id INVALID_FORMAT']);
    expect(refusal(body, { content: 'a', parent: null })).toEqual(['/parent INVALID_TYPE']);
    expect(refusal(body, { content: 'a', attachments: [{ id: ids.file }] })).toEqual([
      '/attachments/0/id INVALID_FORMAT',
    ]);
  });

  it('on a file may be a drawing alone', () => {
    const { body } = contract.comments.createOnFile;
    expect(refusal(body, { anchor: 1500, annotation: DRAWING })).toEqual([]);
    expect(refusal(body, { anchor: 1500, annotation: null })).toEqual(['/content EMPTY_COMMENT']);
    expect(refusal(body, { anchor: 1500 })).toEqual(['/content EMPTY_COMMENT']);
  });

  it('have an anchor and a drawing on files only', () => {
    const drawn = { content: 'a', anchor: 1500, duration: 40, annotation: DRAWING };
    expect(refusal(contract.comments.createOnFile.body, drawn)).toEqual([]);
    expect(refusal(contract.comments.create.body, drawn)).toEqual([
      '/anchor UNKNOWN_FIELD',
      '/duration UNKNOWN_FIELD',
      '/annotation UNKNOWN_FIELD',
    ]);
  });
});

describe('fields of compatible clients', () => {
  it('markdown is the content of a skill version; both only if they are the same', () => {
    const { body } = contract.skills.publish;
    expect(body.parse({ markdown: '# A' })).toEqual({ content: '# A' });
    expect(body.parse({ markdown: '# A', content: '# A' })).toEqual({ content: '# A' });
    expect(refusal(body, { markdown: '# A', content: '# B' })).toEqual(['/markdown BOTH_CONTENTS']);
    expect(refusal(body, { note: 'a' })).toEqual(['/content REQUIRED']);
  });

  it.each([contract.projects.create.body, contract.projects.update.body])(
    'accessRange of a project has one value',
    (body: z.ZodType) => {
      expect(refusal(body, { name: 'A', accessRange: 'ONLY_PROJECT_MEMBER' })).toEqual([]);
      expect(refusal(body, { name: 'A', accessRange: 'ANYONE' })).toEqual(['/accessRange INVALID_VALUE']);
    },
  );
});

describe('uploads', () => {
  const starts: [string, z.ZodType][] = [
    ['file', contract.files.startUpload.body],
    ['comment attachment', contract.attachments.start.body],
    ['comment attachment on a file', contract.attachments.startOnFile.body],
    ['generation attachment', contract.attachments.startForGeneration.body],
  ];
  it.each(starts)('of a %s name no path', (_, body) => {
    const named = (name: string) => refusal(body, { name, size: 1 });
    for (const name of ['clip.mp4', '..clip', 'Übung 🎬.mov', 'a b']) expect(named(name), name).toEqual([]);
    for (const name of ['../clip', 'a/b', 'a\\b', 'a\nb', 'a\x7fb', 'a\u0085b']) {
      expect(named(name), name).toEqual(['/name INVALID_FORMAT']);
    }
  });

  it.each(starts)('of a %s have at least one byte', (_, body) => {
    const sized = (size: unknown) => refusal(body, { name: 'a', size });
    expect(sized(1)).toEqual([]);
    expect(sized(5 * 1024 ** 3)).toEqual([]);
    expect(sized(0)).toEqual(['/size TOO_SMALL']);
    expect(sized(-1)).toEqual(['/size TOO_SMALL']);
    expect(sized(1.5)).toEqual(['/size INVALID_TYPE']);
    expect(sized(undefined)).toEqual(['/size REQUIRED']);
  });

  it('go into a folder only as files', () => {
    const filed = { name: 'a', size: 1, folder: { id: ids.folder } };
    expect(refusal(contract.files.startUpload.body, filed)).toEqual([]);
    expect(refusal(contract.files.startUpload.body, { ...filed, folder: null })).toEqual([]);
    expect(refusal(contract.attachments.start.body, filed)).toEqual(['/folder UNKNOWN_FIELD']);
  });
});

describe('access links', () => {
  const { body } = contract.accessLinks.create;
  it('cannot grant the roles of owner and manager', () => {
    for (const role of ['PROJECT_MEMBER', 'PROJECT_REVIEWER', 'PROJECT_RESTRICTED_REVIEWER']) {
      expect(refusal(body, { role })).toEqual([]);
    }
    for (const role of ['PROJECT_OWNER', 'PROJECT_MANAGER', 'OWNER']) {
      expect(refusal(body, { role })).toEqual(['/role INVALID_VALUE']);
    }
  });

  it('expire at a time that exists', () => {
    const until = (expiresAt: unknown) => refusal(body, { role: 'PROJECT_MEMBER', expiresAt });
    expect(until('2028-02-29 23:59:59.999999')).toEqual([]);
    expect(until(null)).toEqual([]);
    expect(until('2026-02-29 00:00:00.000000')).toEqual(['/expiresAt INVALID_TIME']);
    expect(until('2026-13-01 00:00:00.000000')).toEqual(['/expiresAt INVALID_TIME']);
    expect(until('2026-01-01 24:00:00.000000')).toEqual(['/expiresAt INVALID_TIME']);
    expect(until('2026-01-01T00:00:00Z')).toEqual(['/expiresAt INVALID_FORMAT']);
  });
});

describe('skills', () => {
  const { body } = contract.skills.update;
  it('accept null only where the specification says nullable', () => {
    expect(refusal(body, { metadata: null, allowedTools: null, license: null })).toEqual([]);
    expect(refusal(body, { name: null, description: null, default: null })).toEqual([
      '/name INVALID_TYPE',
      '/description INVALID_TYPE',
      '/default INVALID_TYPE',
    ]);
  });

  it('map text to text', () => {
    expect(refusal(body, { metadata: { author: 'a', '': '' }, allowedTools: ['Read'] })).toEqual([]);
    expect(refusal(body, { metadata: { author: 1 } })).toEqual(['/metadata/author INVALID_TYPE']);
    expect(refusal(body, { default: {} })).toEqual(['/default/id REQUIRED']);
    expect(refusal(body, { default: { id: ids.skillVersion } })).toEqual([]);
  });
});

describe('a field error', () => {
  it('points into the body, escaped as JSON Pointer', () => {
    expect(refusedFields(contract.folders.create.body, { name: 'a'.repeat(65), 'a/b~c': 1 })).toEqual([
      { pointer: '/name', code: 'TOO_LONG', message: 'At most 64 characters.' },
      { pointer: '/a~1b~0c', code: 'UNKNOWN_FIELD', message: 'This field does not exist.' },
    ]);
  });

  it('points at query parameters by name', () => {
    const input = { 'sort.type': 'size' };
    const { error } = contract.versions.list.query.safeParse(input);
    expect([...fieldErrors(error?.issues ?? [], input, '#query')]).toEqual([
      { pointer: '#query/sort.type', code: 'INVALID_VALUE', message: 'Must be one of name, createdAt.' },
    ]);
  });

  it('distinguishes a missing value from one of another type', () => {
    expect(refusal(contract.folders.create.body, {})).toEqual(['/name REQUIRED']);
    expect(refusal(contract.folders.create.body, { name: 1 })).toEqual(['/name INVALID_TYPE']);
    expect(refusal(contract.folders.create.body, { name: 'a', parent: {} })).toEqual(['/parent/id REQUIRED']);
  });

  it('reaches into lists', () => {
    const members = [
      { user: { id: ids.uuid }, role: 'PROJECT_MEMBER' },
      { user: { id: 'x' }, role: 'BOSS' },
    ];
    expect(refusal(contract.members.add.body, { members })).toEqual([
      '/members/1/user/id INVALID_FORMAT',
      '/members/1/role INVALID_VALUE',
    ]);
  });
});
