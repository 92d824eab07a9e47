import { globSync, readFileSync } from 'node:fs';
import { contract } from '@review/contract';
import { expect, test } from 'vitest';

test('every room tests who may call its operations', () => {
  const tests = globSync('*/*.test.ts', { cwd: import.meta.dirname }).map((path) =>
    readFileSync(`${import.meta.dirname}/${path}`, 'utf8'),
  );
  const tested = tests.flatMap((text) => [...text.matchAll(/testAccess\(house, '(\w+)'/g)].map(([, room]) => room));
  expect(tested.sort()).toEqual(Object.keys(contract).sort());
});
