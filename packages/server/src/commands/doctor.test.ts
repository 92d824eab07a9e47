import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWorkerClient } from '@review/client/worker';
import { timestampOf } from '@review/contract';
import { beforeEach, expect, test } from 'vitest';
import { releaseVersion } from '../config/release.ts';
import { latestMigration } from '../db/migrate.ts';
import type { Finding } from '../doctor/finding.ts';
import { onEachDatabase } from '../test/house.ts';
import { review, reviewJson } from '../test/review.ts';

onEachDatabase((house) => {
  const settings = () => {
    const { config } = house().deps;
    return { DATABASE_URL: house().databaseUrl, STORAGE_URL: config.storageUrl, PUBLIC_URL: config.publicUrl };
  };
  const register = async (body: { worker: string; version?: string } & Record<string, unknown>) => {
    const { deps, url } = house();
    const client = createWorkerClient({ baseUrl: url, token: deps.config.workerToken });
    await client.register({ body: { families: [{ family: 'veo', state: 'live' }], ...body } });
    // A command may take longer than the lifetime of a heartbeat.
    await deps.db
      .updateTable('workers')
      .set({ seen_at: deps.clock(3600) })
      .execute();
  };
  const doctor = async (changed: Record<string, string> = {}) => {
    const { code, output } = await review({ ...settings(), ...changed }, 'doctor', '--json');
    const findings: Finding[] = JSON.parse(output);
    const wrong = findings.filter(({ status }) => status !== 'ok');
    return { code, findings, wrong: wrong.map(({ name, status }) => `${status}: ${name}`), messages: wrong };
  };
  const verbose = (authorization: string | null) =>
    fetch(`${house().url}/readyz?verbose`, { headers: authorization === null ? {} : { authorization } });

  beforeEach(() => house().deps.db.deleteFrom('workers').execute());

  test('a working service has no findings, and its storage is left as it was', async () => {
    await register({ worker: 'left', version: releaseVersion() });
    const { code, findings, messages } = await doctor();
    expect([code, messages]).toEqual([0, []]);
    const messageOf = (wanted: string) => findings.find(({ name }) => name === wanted)?.message;
    expect(messageOf('migrations')).toBe(`The schema is at ${latestMigration()}.`);
    expect(messageOf('workers')).toBe('Alive: left (live: veo).');
    expect(messageOf('public address')).toBe(`The service answers at ${house().url}.`);
    expect(findings.map(({ name }) => name)).toEqual(expect.arrayContaining(['storage', 'clock', 'disk space']));
    const left = [];
    for await (const { key } of house().deps.storage.list()) left.push(key);
    expect(left).toEqual([]);
    const { output } = await review(settings(), 'doctor');
    expect(output).toContain('ok       engine: The embedded engine runs generations.');
  });

  test('each fault is a finding with advice, and one that failed exits with 1', async () => {
    const refusal = { family: 'kling', type: 'AUTH', message: 'Unknown key.', at: timestampOf(0) };
    const misconfigured = { family: 'meshy', state: 'misconfigured', reason: 'MESHY_API_KEY is too short.' };
    await register({ worker: 'old', version: '0.0.1', families: [misconfigured], refusals: [refusal] });
    const file = join(house().deps.config.dataDirectory, 'a-file');
    writeFileSync(file, '');
    const { code, wrong, messages } = await doctor({
      STORAGE_URL: `file:${file}/files`,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      PUBLIC_URL: 'http://127.0.0.1:1',
      SECRET_KEY_PREVIOUS: 'x'.repeat(32),
    });
    expect(code).toBe(1);
    expect(wrong.toSorted()).toEqual([
      'failed: disk space',
      'failed: engine',
      'failed: providers',
      'failed: storage',
      'warning: providers',
      'warning: public address',
      'warning: settings',
      'warning: versions',
    ]);
    expect(messages.every(({ advice }) => advice)).toBe(true);
    expect(messages.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        'meshy is misconfigured: MESHY_API_KEY is too short.',
        `This server is ${releaseVersion()}, but old is 0.0.1.`,
        expect.stringContaining('kling refused the account of old'),
      ]),
    );
  });

  test('a paused family is a warning, and a draining worker is named', async () => {
    await register({ worker: 'left', version: releaseVersion() });
    await reviewJson(settings(), 'providers', 'pause', 'veo', '--reason', 'invoices');
    await reviewJson(settings(), 'workers', 'drain', 'left');
    const { code, findings, messages } = await doctor();
    await reviewJson(settings(), 'providers', 'resume', 'veo');
    expect([code, messages]).toMatchObject([
      0,
      [{ name: 'providers', status: 'warning', message: expect.stringMatching(/^veo is paused since .*: invoices\./) }],
    ]);
    expect(findings.find(({ name }) => name === 'workers')?.message).toMatch(/^Alive: left \(draining since /);
  });

  test('a missing worker is a failure', async () => {
    expect(await doctor()).toMatchObject({ code: 1, wrong: ['failed: workers'] });
  });

  test('GET /readyz?verbose has the findings for a caller with the worker token only', async () => {
    await register({ worker: 'left', version: releaseVersion() });
    for (const authorization of [null, 'Bearer wrong', `Bearer ${house().people.owner.key}`]) {
      const refused = await verbose(authorization);
      expect([refused.status, await refused.json()]).toMatchObject([401, { code: 'INVALID_CREDENTIAL' }]);
    }
    const answer = await verbose(`Bearer ${house().deps.config.workerToken}`);
    const { status, findings } = JSON.parse(await answer.text());
    expect([answer.status, status]).toEqual([200, 'ok']);
    expect(findings.length).toBeGreaterThan(8);
    expect(findings.filter((finding: Finding) => finding.status !== 'ok')).toEqual([]);
    expect(await (await house().request(null, 'GET', '/readyz')).json()).not.toHaveProperty('findings');
  });

  test('GET /version shows the release and its last migration without a credential', async () => {
    const answer = await house().request(null, 'GET', '/version');
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { version: releaseVersion(), migration: latestMigration() },
    ]);
  });
});

test('settings that are not valid, a missing and an unreachable database are findings', async () => {
  const cases: [Record<string, string>, string][] = [
    [{ PORT: 'x' }, 'settings'],
    [{}, 'database'],
    [{ DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/db' }, 'database'],
  ];
  for (const [settings, name] of cases) {
    const { code, output } = await review(settings, 'doctor', '--json');
    const findings: Finding[] = JSON.parse(output);
    expect([code, findings.find((finding) => finding.name === name)]).toMatchObject([1, { status: 'failed' }]);
    expect(output).not.toContain('hunter2');
  }
});
