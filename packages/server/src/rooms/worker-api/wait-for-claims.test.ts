import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/house.ts';
import { waitForClaims } from './wait-for-claims.ts';

onEachDatabase((house) => {
  test('a worker that disconnects while it waits claims nothing more', async () => {
    const worker = new AbortController();
    let claims = 0;
    const claim = async () => {
      claims += 1;
      worker.abort();
      return [];
    };
    expect(await waitForClaims(house().deps, { wait: 20, signal: worker.signal }, claim)).toEqual([]);
    expect(claims).toBe(1);
  });

  test('work that appears while a worker waits is claimed', async () => {
    const found = [[], ['work']];
    const { signal } = new AbortController();
    const claimed = await waitForClaims(house().deps, { wait: 20, signal }, async () => found.shift() ?? []);
    expect(claimed).toEqual(['work']);
  });
});
