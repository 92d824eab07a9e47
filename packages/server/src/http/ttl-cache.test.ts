import { expect, test, vi } from 'vitest';
import { ttlCache } from './ttl-cache.ts';

test('keys that are asked for in one turn share a look-up, and each gets its own result', async () => {
  const lookUp = vi.fn(async (keys: string[]) => new Map(keys.map((key) => [key, key.toUpperCase()])));
  const { find } = ttlCache(lookUp);
  expect(await Promise.all(['a', 'b', 'a'].map(find))).toEqual(['A', 'B', 'A']);
  expect(await find('c')).toBe('C');
  expect(lookUp.mock.calls).toEqual([[['a', 'b']], [['c']]]);
});

test('a key without a result is remembered; a failed look-up is not', async () => {
  const lookUp = vi.fn(async () => new Map<string, string>());
  lookUp.mockRejectedValueOnce(new Error('away'));
  const { find } = ttlCache(lookUp);
  await expect(Promise.all(['a', 'b'].map(find))).rejects.toThrow('away');
  expect(await find('a')).toBeUndefined();
  expect(await find('a')).toBeUndefined();
  expect(lookUp).toHaveBeenCalledTimes(2);
});

test('only a key that was asked for is cached', async () => {
  const { find, cached } = ttlCache(async () => new Map([['a', 'A']]));
  expect(cached('a')).toBeUndefined();
  await find('a');
  expect(await cached('a')).toBe('A');
  expect(cached('b')).toBeUndefined();
});
