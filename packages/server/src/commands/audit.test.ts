import { expect, test } from 'vitest';
import { sweep } from '../sweeper.ts';
import { onEachDatabase } from '../test/house.ts';
import { membershipOf, newcomer, newProject } from '../test/people.ts';
import { review, reviewJson } from '../test/review.ts';

interface Act {
  id: string;
  at: string;
  act: string;
  user: { id: string; email: string } | null;
  operator: string | null;
  workspaceId: string | null;
  projectId: string | null;
  subjectId: string;
  data: Record<string, unknown>;
}

onEachDatabase((house) => {
  const settings = () => ({ DATABASE_URL: house().databaseUrl, STORAGE_URL: house().deps.config.storageUrl });
  const audit = (...words: string[]) => reviewJson<Act[]>(settings(), 'audit', ...words);
  const run = <Answer>(...words: string[]) => reviewJson<Answer>(settings(), ...words);

  test('changes of members, links and webhooks by the API are recorded with the person', async () => {
    const { owner } = house().people;
    const { client, workspaceId } = owner;
    const person = await newcomer(house());
    const id = await newProject(owner, [[person, 'PROJECT_MEMBER']]);
    const params = { id };
    const member = { id: await membershipOf(person, id) };
    await client.members.update({ params: member, body: { role: 'PROJECT_REVIEWER' } });
    await client.members.remove({ params: member });
    const { data: link } = await client.accessLinks.create({ params, body: { role: 'PROJECT_MEMBER' } });
    const { accessKey } = (await client.accessLinks.get({ params: link })).data;
    await client.accessLinks.delete({ params: link });
    const url = 'https://hooks.example/token-in-the-path';
    const { data: webhook } = await client.webhooks.create({ params, body: { url } });
    await client.webhooks.delete({ params: { id: webhook.id } });
    await client.projects.update({ params, body: { name: 'Not administrative' } });

    const acts = (await audit('--by', 'Owner@example.com')).filter(({ projectId }) => projectId === id).toReversed();
    expect(acts.map(({ act, subjectId }) => [act, subjectId])).toEqual([
      ['project.created', id],
      ['member.added', member.id],
      ['member.changed', member.id],
      ['member.removed', member.id],
      ['link.created', link.id],
      ['link.deleted', link.id],
      ['webhook.created', webhook.id],
      ['webhook.deleted', webhook.id],
    ]);
    expect(acts[2]).toEqual({
      id: expect.any(String),
      at: expect.stringMatching(/^\d{4}-/),
      act: 'member.changed',
      user: { id: owner.userId, email: 'owner@example.com' },
      operator: null,
      workspaceId,
      projectId: id,
      subjectId: member.id,
      data: { user: { id: person.userId }, role: 'PROJECT_REVIEWER' },
    });
    const text = JSON.stringify(acts);
    for (const secret of [String(accessKey), 'token-in-the-path']) expect(text).not.toContain(secret);
  });

  test('commands are recorded with the user and the host, and without the key', async () => {
    const { id: workspaceId } = await run<{ id: string }>('workspace', 'create', '--name', 'Audited');
    const at = ['--workspace', workspaceId];
    const who = ['--email', 'grace@example.com', '--name', 'Grace'];
    const { id: userId } = await run<{ id: string }>('user', 'create', ...at, ...who);
    const key = await run<{ id: string; key: string }>(
      ...['key', 'create', ...at, '--user', userId, '--scopes', 'files:read'],
    );
    await run('key', 'revoke', key.id);
    await run('user', 'remove', ...at, '--user', userId);
    const acts = (await audit(...at)).toReversed();
    expect(acts.map(({ act, subjectId, data }) => [act, subjectId, data])).toEqual([
      ['workspace.created', workspaceId, { name: 'Audited' }],
      ['user.added', userId, { email: 'grace@example.com' }],
      ['key.created', key.id, { user: { id: userId }, scopes: ['files:read'], expiresAt: null }],
      ['key.revoked', key.id, {}],
      ['user.removed', userId, { projects: 0, keys: 0, newOwner: null }],
    ]);
    expect(new Set(acts.map(({ user, operator }) => user === null && /^\S+@\S+$/.test(operator ?? '')))).toEqual(
      new Set([true]),
    );
    expect(JSON.stringify(acts)).not.toContain(key.key.slice(-20));
    expect((await audit(...at, '--by', acts[0]?.operator ?? '')).length).toBe(5);

    await run('providers', 'pause', 'veo', '--reason', 'invoices');
    await run('providers', 'resume', 'veo');
    expect((await audit('--limit', '2')).map(({ act, data }) => [act, data])).toEqual([
      ['family.resumed', {}],
      ['family.paused', { reason: 'invoices' }],
    ]);
    expect((await review(settings(), 'providers', 'resume', 'veo')).code).toBe(1);
    expect((await review(settings(), 'workers', 'drain', 'nobody')).code).toBe(1);
    expect((await audit('--limit', '1')).map(({ act }) => act)).toEqual(['family.resumed']);
  });

  test('it is filtered by act and day, and read page by page', async () => {
    const all = await audit('--limit', '1000');
    expect(all.length).toBeGreaterThan(10);
    const first = await audit('--limit', '4');
    const rest = await audit('--limit', '1000', '--before', first[3]?.id ?? '');
    expect([...first, ...rest]).toEqual(all);
    expect(new Set((await audit('--act', 'member.added')).map(({ act }) => act))).toEqual(new Set(['member.added']));
    expect(await audit('--since', '2999-01-01')).toEqual([]);
    expect(await audit('--since', '2020-01-01', '--limit', '1000')).toEqual(all);
    const { output } = await review(settings(), 'audit', '--act', 'key.revoked');
    expect(output).toMatch(/^ID +AT +BY +ACT +SUBJECT +DETAILS\n\S{36} +\S+ \S+ +\S+@\S+ +key\.revoked +\S{36} +-$/m);
  });

  test('an entry is not changed, and is deleted after AUDIT_RETENTION_DAYS', async () => {
    const { db } = house().deps;
    const [entry] = await audit('--limit', '1');
    const change = db.updateTable('audit_log').set({ act: 'forged' }).execute();
    await expect(change).rejects.toThrow('audit_log is append-only');
    const row = await db.selectFrom('audit_log').selectAll().limit(1).executeTakeFirstOrThrow();
    await db
      .insertInto('audit_log')
      .values({ ...row, id: 'old', at: '2000-01-01 00:00:00.000000' })
      .execute();
    expect(await run('sweep', '--dry-run')).toMatchObject({ acts: 1 });
    await sweep(house().deps);
    const kept = await audit('--limit', '1000');
    expect(kept.map(({ id }) => id)).toContain(entry?.id);
    expect(kept.map(({ id }) => id)).not.toContain('old');
  });

  test.each([
    [['--since', 'yesterday'], /--since: write a date such as/],
    [['--before', 'x'], /--before: there is no entry x/],
    [['--limit', '0'], /--limit: write a whole number/],
    [['--workspace', 'x'], /no workspace x/],
  ])('%j exits with 1 and says what is wrong', async (words, message) => {
    const { code, errors } = await review(settings(), 'audit', ...words);
    expect([code, errors]).toEqual([1, expect.stringMatching(message)]);
  });
});
