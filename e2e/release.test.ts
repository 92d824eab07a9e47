import { expect, test } from 'vitest';
import { findFaults, type Release } from '../scripts/release.ts';

const READY: Release = {
  version: '1.2.0',
  packages: { 'packages/server/package.json': '1.2.0' },
  changelog: '# Changelog\n\n## 1.2.0, 2027-01-31\n\n- Something new.\n\n## 1.1.0, 2026-12-01\n\n- Something old.\n',
  documents: { 'docs/openapi.json': { stored: '{}', current: '{}' } },
  migrations: ['0001-a', '0002-b'],
  recorded: ['0001-a', '0002-b'],
  uncommitted: [],
  tags: ['v1.1.0'],
};

test('a consistent release has no faults', () => {
  expect(findFaults(READY)).toEqual([]);
});

test.each<[string, Partial<Release>, RegExp]>([
  [
    'a package of another version',
    { packages: { 'e2e/package.json': '1.1.0' } },
    /^e2e\/package.json: .*set it to 1.2.0/,
  ],
  [
    'a changelog without this version',
    { changelog: '## 1.1.0, 2026-12-01\n\n- Old.\n' },
    /add a section "1.2.0, <date>"/,
  ],
  ['a changelog without a date', { changelog: '## 1.2.0, not released yet\n\n- New.\n' }, /1.2.0 has no date/],
  [
    'a changelog without entries',
    { changelog: '## 1.2.0, 2027-01-31\n\n## 1.1.0, 2026-12-01\n\n- Old.\n' },
    /no entries/,
  ],
  ['an empty changelog', { changelog: '' }, /add a section/],
  ['an old contract', { documents: { 'docs/openapi.json': { stored: '{}', current: '[]' } } }, /npm run snapshot/],
  ['no recorded schema', { recorded: null }, /1.2.0 is not recorded; run `RECORD_RELEASE=1/],
  ['a schema that lacks a migration', { recorded: ['0001-a'] }, /not recorded with all its migrations/],
  ['a released version', { tags: ['v1.2.0'] }, /set a higher version/],
  ['uncommitted files', { uncommitted: ['README.md'] }, /Not committed: README.md/],
])('%s is a fault', (_, change, message) => {
  expect(findFaults({ ...READY, ...change })).toEqual([expect.stringMatching(message)]);
});
