import { expect, test } from 'vitest';
import { measure } from './test/bundle.ts';

test('the browser bundle is small and contains nothing of the server or of Node', async () => {
  const { whole, withoutZod, report } = await measure();
  console.log(report);
  expect(withoutZod.gzip).toBeLessThan(42_000);
  expect(whole.gzip).toBeLessThan(70_000);
  const foreign = whole.modules.filter(
    (module) => !/\/(client|contract)\/dist\/|node_modules\/(zod|@ts-rest\/core|@noble\/hashes)\//.test(module),
  );
  expect(foreign).toEqual([]);
  expect(whole.code).not.toMatch(/["']node:|platform\.node|createHash|openAsBlob/);
}, 60_000);
