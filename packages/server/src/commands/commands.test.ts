import { createClient } from '@review/client';
import { SCOPES } from '@review/contract';
import { expect, test } from 'vitest';
import { type House, onEachDatabase } from '../test/house.ts';
import { reviewJson } from '../test/review.ts';
import type { Demo } from './demo.ts';

type Id = { id: string };
type Issued = { id: string; key: string };
type Listed = { id: string; workspaceId: string; scopes: string[]; expiresAt: string | null; revokedAt: string | null };

/** The commands, on the database of a server that is running. */
onEachDatabase((house) => {
  const settings = () => ({ DATABASE_URL: house().databaseUrl });
  const json = <Answer>(...words: string[]) => reviewJson<Answer>(settings(), ...words);
  const clientOf = ({ url }: House, token: string) => createClient({ baseUrl: url, token, retries: 0 });

  test('from nothing to a key that works at once on the running server', async () => {
    const workspace = await json<Id>(
      'workspace',
      'create',
      '--name',
      'Atelier',
      '--avatar-url',
      'https://a.example/a.png',
    );
    const at = ['--workspace', workspace.id];
    const person = ['--email', 'Ada@Example.com', '--name', 'Ada', '--display-name', 'Countess'];
    const user = await json<Id>('user', 'create', ...at, ...person, '--avatar-url', 'https://a.example/ada.png');
    expect(Object.keys(user)).toEqual(['id']);

    const byEmail = await json<Issued>('key', 'create', ...at, '--user', 'ADA@example.com', '--scopes', 'all');
    expect(byEmail).toEqual({ id: expect.any(String), key: expect.stringMatching(/^prs_k_[0-9A-Za-z]{36}$/) });
    const client = clientOf(house(), byEmail.key);
    expect((await client.ping.ping()).data).toEqual({
      pong: true,
      workspace: { id: workspace.id, name: 'Atelier', avatarUrl: 'https://a.example/a.png' },
      scopes: [...SCOPES],
    });
    expect((await client.members.listWorkspace()).data).toMatchObject([
      { user: { id: user.id, email: 'ada@example.com', name: 'Countess', avatarUrl: 'https://a.example/ada.png' } },
    ]);

    const few = ['--scopes', ' projects:read, ai:generate', '--expires', '90d'];
    const byId = await json<Issued>('key', 'create', ...at, '--user', user.id, ...few);
    expect((await clientOf(house(), byId.key).ping.ping()).data.scopes).toEqual(['projects:read', 'ai:generate']);

    const keys = await json<Listed[]>('key', 'list', ...at);
    expect(keys.map(({ id }) => id)).toEqual([byEmail.id, byId.id]);
    expect(keys[1]).toMatchObject({
      workspaceId: workspace.id,
      email: 'ada@example.com',
      hint: byId.key.slice(-4),
      scopes: ['projects:read', 'ai:generate'],
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/),
      revokedAt: null,
    });
    expect(JSON.stringify(keys)).not.toContain(byId.key.slice(0, 20));

    expect(await json('key', 'revoke', byId.id)).toEqual({ id: byId.id });
    await expect
      .poll(
        () =>
          clientOf(house(), byId.key)
            .ping.ping()
            .catch((problem) => problem.code),
        { timeout: 1500 },
      )
      .toBe('INVALID_CREDENTIAL');
    expect((await client.ping.ping()).data.pong).toBe(true);
    const after = await json<Listed[]>('key', 'list', ...at);
    expect(after.map(({ revokedAt }) => revokedAt !== null)).toEqual([false, true]);
  });

  test('demo creates five people with keys and projects; a second run shows the same without keys', async () => {
    const demo = await json<Demo>('demo');
    expect(demo.created).toBe(true);
    expect(demo.people.map(({ role }) => role)).toEqual([
      'PROJECT_OWNER',
      'PROJECT_MANAGER',
      'PROJECT_MEMBER',
      'PROJECT_REVIEWER',
      'PROJECT_RESTRICTED_REVIEWER',
    ]);
    for (const { key, role } of demo.people) {
      const { data } = await clientOf(house(), key ?? '').projects.list({
        body: { sort: { type: 'createdAt', direction: 'asc' } },
      });
      expect(data.map(({ id, name }) => ({ id, name }))).toEqual(demo.projects);
      expect(new Set(data.map((project) => project.role))).toEqual(new Set([role]));
    }
    const owner = clientOf(house(), demo.people[0]?.key ?? '');
    for (const { id } of demo.projects) {
      expect((await owner.folders.list({ params: { id } })).data.length).toBeGreaterThan(0);
    }

    const again = await json<Demo>('demo');
    expect(again).toEqual({ ...demo, created: false, people: demo.people.map((person) => ({ ...person, key: null })) });
  });
});
