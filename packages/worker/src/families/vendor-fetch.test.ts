import { expect, test } from 'vitest';
import { startDouble } from './test/double.ts';
import { vendorFetch } from './vendor-fetch.ts';

async function* endless() {
  for (;;) yield '-'.repeat(1000);
}

test('an answer over the limit fails', async () => {
  await using vendor = await startDouble(({ path }) => ({
    status: 201,
    headers: { 'x-told': 'yes' },
    body: path === '/endless' ? endless() : '-'.repeat(5000),
  }));
  const fetch = vendorFetch(5000);
  const answer = await fetch(`${vendor.url}/short`);
  expect([answer.status, answer.headers.get('x-told'), (await answer.text()).length]).toEqual([201, 'yes', 5000]);
  const endlessAnswer = await fetch(`${vendor.url}/endless`);
  await expect(endlessAnswer.text()).rejects.toThrow('the answer has more than');
});
