import { createClient } from '@review/client';
import { test } from 'vitest';
import { DIALECTS, openHouse } from './test/house.ts';
import { newcomer } from './test/people.ts';

/** Waits for a real rate limit window, on both databases at the same time. */
test.concurrent.for(DIALECTS)(
  'a client over its limit retries once, after Retry-After: %s',
  { timeout: 180_000 },
  async (dialect, { expect }) => {
    await using house = await openHouse(dialect, { RATE_LIMITS: 'default=2' });
    const { key } = await newcomer(house);
    const statuses: number[] = [];
    const client = createClient({
      baseUrl: house.url,
      token: key,
      fetch: async (...request) => {
        const answer = await fetch(...request);
        statuses.push(answer.status);
        return answer;
      },
    });
    for (let call = 0; call < 3; call++) await client.members.listWorkspace();
    expect(statuses).toEqual([200, 200, 429, 200]);
  },
);
