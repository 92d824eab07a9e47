import { expect, test } from 'vitest';
import { onEachDatabase } from '../test/house.ts';

const ORIGIN = 'https://tools.example.com';
const preflight = (method: string, origin = ORIGIN) => ({
  method: 'OPTIONS',
  headers: { origin, 'access-control-request-method': method },
});

onEachDatabase(
  (house) => {
    test('a page of an allowed origin may send QUERY and read the rate limit', async () => {
      const asked = await fetch(`${house().url}/api/projects`, preflight('QUERY'));
      expect(asked.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(asked.headers.get('access-control-allow-methods')?.split(',')).toContain('QUERY');
      const answer = await house().request('owner', 'GET', '/api/ping', { headers: { origin: ORIGIN } });
      expect(answer.headers.get('access-control-expose-headers')?.split(',')).toContain('RateLimit');
    });

    test('a page of another origin is not allowed', async () => {
      const asked = await fetch(`${house().url}/api/projects`, preflight('QUERY', 'https://elsewhere.example.com'));
      expect(asked.headers.get('access-control-allow-origin')).toBeNull();
    });
  },
  { CORS_ORIGINS: ORIGIN },
);
