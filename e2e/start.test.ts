import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { freePort } from '../scripts/free-port.ts';
import { DevProcess } from './dev-process.ts';

let dataDirectory = '';
let port = '';

beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'review-start-'));
  port = await freePort();
});

afterEach(async () => {
  await rm(dataDirectory, { recursive: true, force: true });
});

test('npm start serves the API, the console and the docs, and stops all its processes', async () => {
  await using dev = new DevProcess({ DATA_DIR: dataDirectory, PORT: port });
  const key = await dev.readValue('Demo key');

  const ping = await fetch(`http://127.0.0.1:${port}/api/ping`, { headers: { authorization: `Bearer ${key}` } });
  expect(ping.status).toBe(200);
  const stranger = await fetch(`http://127.0.0.1:${port}/api/ping`, {
    headers: { authorization: 'Bearer prs_k_wrong' },
  });
  expect(stranger.status).toBe(401);

  for (const label of ['Console', 'API docs']) {
    const page = await fetch(await dev.readValue(label));
    expect(page.status, label).toBe(200);
    expect(page.headers.get('content-type'), label).toContain('text/html');
    expect(await page.text(), label).toMatch(/<!doctype html>/i);
  }
  expect(await dev.readValue('Project')).not.toBe('');
  expect((await stat(join(dataDirectory, 'demo-key'))).mode & 0o777).toBe(0o600);

  expect(await dev.stop()).toBe(0);
  expect(dev.leftovers).toBe(false);
});

test('a second start shows the same key; a lost key file is replaced by a new key that works', {
  timeout: 120_000,
}, async () => {
  const keys: string[] = [];
  for (const isLost of [false, false, true]) {
    if (isLost) await rm(join(dataDirectory, 'demo-key'));
    await using dev = new DevProcess({ DATA_DIR: dataDirectory, PORT: port });
    const key = await dev.readValue('Demo key');
    const ping = await fetch(`http://127.0.0.1:${port}/api/ping`, { headers: { authorization: `Bearer ${key}` } });
    expect(ping.status).toBe(200);
    keys.push(key);
    expect(await dev.stop()).toBe(0);
  }
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
});

test('a port in use is reported with a remedy, and nothing is started', async () => {
  const occupant = createServer().listen(Number(port), '127.0.0.1');
  await once(occupant, 'listening');
  try {
    await using dev = new DevProcess({ DATA_DIR: dataDirectory, PORT: port });
    expect(await dev.exit).toBeGreaterThan(0);
    expect(dev.output).toMatch(new RegExp(`port ${port} is taken.*PORT=`));
    expect(dev.leftovers).toBe(false);
  } finally {
    occupant.close();
  }
});
