import { randomBytes, randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { putAll } from '../../storage/test/upload.ts';
import { onEachDatabase } from '../../test/house.ts';
import { resume, startSecondServer } from './test/resume.ts';
import { complete, KINDS, sha256, start, storedBytes } from './test/uploads.ts';

onEachDatabase(
  (house) => {
    test('100 interrupted uploads of random sizes are stored unchanged', { timeout: 300_000 }, async () => {
      await using second = await startSecondServer(house());
      for (let round = 0; round < 100; round++) {
        await resume(house(), second, KINDS[round % KINDS.length] ?? 'FX', randomInt(1, 50_000));
      }
    });

    test('10,000 parts', { timeout: 300_000 }, async () => {
      const bytes = randomBytes(10_000_000);
      const { client } = house().people.owner;
      const { id, parts } = await start(client, 'FX', house().projectId, { size: bytes.length });
      expect(parts).toHaveLength(10_000);
      const urls = parts.map(({ url }) => url);
      const began = performance.now();
      const sent = await putAll(urls, (index) => bytes.subarray(index * 1000, (index + 1) * 1000));
      const uploaded = performance.now();
      await complete(client, id, sent);
      const [uploading, completing] = [uploaded - began, performance.now() - uploaded].map(Math.round);
      console.log(`10,000 parts through the server: upload ${uploading} ms, complete ${completing} ms`);
      expect(sha256(await storedBytes(house(), id))).toBe(sha256(bytes));
    });
  },
  { UPLOAD_PART_SIZE: '1000' },
);
