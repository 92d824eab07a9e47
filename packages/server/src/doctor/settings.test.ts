import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readConfig } from '../config/config.ts';
import { openDeps } from '../open-deps.ts';
import { checkSettings } from './settings.ts';

const SECRETS = { SECRET_KEY: 'k'.repeat(32), WORKER_TOKEN: 't'.repeat(32), CONSOLE_DIR: 'off' };
const PRODUCTION = { ...SECRETS, NODE_ENV: 'production', PUBLIC_URL: 'https://review.example.com', TRUST_PROXY: '1' };

async function outcomesOf(settings: Record<string, string>) {
  // The server's own log stays open until the process ends.
  const log = pino({ level: 'silent' });
  await using deps = openDeps(readConfig({ DATABASE_URL: 'sqlite::memory:', ...settings }), log);
  return checkSettings(deps);
}

test.each([SECRETS, PRODUCTION])('settings without contradictions are ok', async (settings) => {
  expect(await outcomesOf(settings)).toMatchObject([{ status: 'ok' }]);
});

test.each([
  [{ PUBLIC_URL: 'http://localhost:3000' }, 'failed', 'PUBLIC_URL'],
  [{ PUBLIC_URL: 'http://review.example.com' }, 'warning', 'PUBLIC_URL'],
  [{ TRUST_PROXY: 'off' }, 'warning', 'TRUST_PROXY'],
  [{ RATE_LIMITS: 'off' }, 'warning', 'RATE_LIMITS'],
  [{ DRAIN_SECONDS: '0' }, 'warning', 'DRAIN_SECONDS'],
  [{ GENERATION_ENGINE: 'embedded', TEMPORAL_ADDRESS: '127.0.0.1:1' }, 'warning', 'GENERATION_ENGINE'],
  [{ GENERATION_ENGINE: 'temporal' }, 'warning', 'TEMPORAL_ADDRESS'],
  [{ STORAGE_URL: 's3://bucket/?region=eu', UPLOAD_PART_SIZE: '1048576' }, 'failed', 'UPLOAD_PART_SIZE'],
  [{ DATABASE_URL: 'postgres://127.0.0.1:1/db', DATABASE_LOCK_SECONDS: '60' }, 'warning', 'DATABASE_LOCK_SECONDS'],
  [{ WORKER_TOKEN: SECRETS.SECRET_KEY }, 'failed', 'WORKER_TOKEN'],
  [{ SECRET_KEY_PREVIOUS: 'p'.repeat(32) }, 'warning', 'SECRET_KEY_PREVIOUS'],
])('%o contradict the others', async (settings, status, name) => {
  const outcomes = await outcomesOf({ ...PRODUCTION, ...settings });
  expect(outcomes).toEqual([{ status, message: expect.stringContaining(name), advice: expect.any(String) }]);
});
