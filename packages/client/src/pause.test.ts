import { expect, test } from 'vitest';
import { createClient } from './client.ts';
import { refused, standIn } from './test/stand-in.ts';

test('an abort during the delay before a retry ends the call at once', async () => {
  await using server = await standIn(refused(429, 'RATE_LIMITED', { 'retry-after': '60' }));
  const leaving = new AbortController();
  const call = createClient({ baseUrl: server.url, token: 'key' }).ping.ping({}, { signal: leaving.signal });
  await expect.poll(() => server.received).toHaveLength(1);
  leaving.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
  expect(server.received).toHaveLength(1);
});
