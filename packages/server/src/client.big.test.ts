import { createClient } from '@review/client';
import { expect, test } from 'vitest';
import { onEachDatabase } from './test/house.ts';
import { newcomer } from './test/people.ts';

/** Waits for a real rate limit window. */
onEachDatabase(
  (house) => {
    test('a client over its limit retries once, after Retry-After', async () => {
      const { key } = await newcomer(house());
      const statuses: number[] = [];
      const client = createClient({
        baseUrl: house().url,
        token: key,
        fetch: async (...request) => {
          const answer = await fetch(...request);
          statuses.push(answer.status);
          return answer;
        },
      });
      for (let call = 0; call < 3; call++) await client.members.listWorkspace();
      expect(statuses).toEqual([200, 200, 429, 200]);
    }, 90_000);
  },
  { RATE_LIMITS: 'default=2' },
);
