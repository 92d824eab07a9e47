import { describe, expect, test } from 'vitest';
import { onEachDatabase } from '../../test/house.ts';
import { start } from '../uploads/test/uploads.ts';

describe('WAIT_LIMIT=0', () => {
  onEachDatabase(
    (house) => {
      test('a wait is answered at once with the current state', async () => {
        const { client } = house().people.owner;
        const { id } = await start(client, 'FX', house().projectId);
        const before = performance.now();
        expect((await client.files.get({ params: { id }, query: { wait: 60 } })).data.status).toBe('UPLOADING');
        expect(performance.now() - before).toBeLessThan(30_000);
      });
    },
    { WAIT_LIMIT: '0' },
  );
});

describe('WAIT_SECONDS=1', () => {
  onEachDatabase(
    (house) => {
      test('a longer wait is answered after a second with the current state', async () => {
        const { client } = house().people.owner;
        const { id } = await start(client, 'FX', house().projectId);
        const before = performance.now();
        expect((await client.files.get({ params: { id }, query: { wait: 60 } })).data.status).toBe('UPLOADING');
        expect(performance.now() - before).toBeLessThan(30_000);
      });
    },
    { WAIT_SECONDS: '1' },
  );
});
