import { upload } from '@review/client';
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

    test('a page of an allowed origin reads a part of a download: its range and its name', async () => {
      const { id } = await upload(house().people.owner.client, {
        to: { project: house().projectId },
        source: new File(['some bytes'], 'clip.txt'),
      });
      const { data } = await house().people.owner.client.files.download({ params: { id } });
      const answer = await fetch(data.url, { headers: { origin: ORIGIN, range: 'bytes=0-3' } });
      const exposed = answer.headers.get('access-control-expose-headers')?.split(',');
      expect([answer.status, await answer.text()]).toEqual([206, 'some']);
      for (const name of ['Content-Disposition', 'Content-Range', 'Accept-Ranges', 'Idempotency-Replayed', 'ETag']) {
        expect(exposed).toContain(name);
      }
    });

    test('a page of another origin is not allowed', async () => {
      const asked = await fetch(`${house().url}/api/projects`, preflight('QUERY', 'https://elsewhere.example.com'));
      expect(asked.headers.get('access-control-allow-origin')).toBeNull();
    });
  },
  { CORS_ORIGINS: ORIGIN },
);
