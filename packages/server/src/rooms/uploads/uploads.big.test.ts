import { randomBytes, randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/house.ts';
import { resume, startSecondServer } from './test/resume.ts';
import { complete, KINDS, type Part, put, sha256, start, storedBytes } from './test/uploads.ts';

onEachDatabase(
  (house) => {
    test('100 random sizes, each interrupted, come back as they went in', { timeout: 300_000 }, async () => {
      await using second = await startSecondServer(house());
      for (let round = 0; round < 100; round++) {
        await resume(house(), second, KINDS[round % KINDS.length] ?? 'FX', randomInt(1, 50_000));
      }
    });

    test.each(KINDS)('%s in 10,000 parts', { timeout: 300_000 }, async (kind) => {
      const bytes = randomBytes(10_000_000);
      const { client } = house().people.owner;
      const { id, parts } = await start(client, kind, house().projectId, { size: bytes.length });
      expect(parts).toHaveLength(10_000);
      const sent: Part[] = [];
      const waiting = parts.values();
      const sender = async () => {
        for (const { partNumber, size, url } of waiting) {
          const answer = await put(url, bytes.subarray((partNumber - 1) * 1000, (partNumber - 1) * 1000 + size));
          expect(answer.status).toBe(200);
          sent.push({ partNumber, eTag: answer.headers.get('etag') ?? '' });
        }
      };
      await Promise.all(Array.from({ length: 8 }, sender));
      await complete(client, id, sent);
      expect(sha256(await storedBytes(house(), id))).toBe(sha256(bytes));
    });
  },
  { UPLOAD_PART_SIZE: '1000' },
);
