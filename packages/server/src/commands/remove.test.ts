import { SCOPES } from '@review/contract';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Issuer, openIssuer } from '../credentials/test/issuer.ts';
import { put, upload } from '../rooms/uploads/test/uploads.ts';
import { eventually } from '../test/eventually.ts';
import { DIALECTS, type House, openHouse, type Person, refusal } from '../test/house.ts';
import { newcomer, newProject } from '../test/people.ts';
import { review, reviewJson } from '../test/review.ts';
import { currentRequest, post } from '../tools/test/wire.ts';

describe.each(DIALECTS)('%s', (dialect) => {
  let issuer: Issuer;
  let house: House & AsyncDisposable;
  beforeAll(async () => {
    issuer = await openIssuer(() => house.url);
    house = await openHouse(dialect, { OAUTH_ISSUER: issuer.url });
  });
  afterAll(async () => {
    await house[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });

  const settings = () => ({ DATABASE_URL: house.databaseUrl, STORAGE_URL: house.deps.config.storageUrl });
  const remove = (person: Person, ...more: string[]) =>
    review(settings(), 'user', 'remove', '--workspace', house.workspaceId, '--user', person.userId, ...more);
  const statusWith = async (token: string) =>
    (await fetch(`${house.url}/api/ping`, { headers: { authorization: `Bearer ${token}` } })).status;

  test('a removed person loses keys, tokens, long polls and streams within a second, and cannot rejoin by a link', async () => {
    const { owner } = house.people;
    const person = await newcomer(house, { displayName: 'Shown here' });
    const projectId = await newProject(owner, [[person, 'PROJECT_MEMBER']]);
    const params = { id: projectId };
    const link = (await owner.client.accessLinks.create({ params, body: { role: 'PROJECT_MEMBER' } })).data;
    const { accessKey } = (await owner.client.accessLinks.get({ params: link })).data;
    const comment = (await person.client.comments.create({ params, body: { content: 'Mine' } })).data;
    const kept = await upload(person.client, 'FX', projectId, Buffer.from('kept'));
    const file = (await person.client.files.startUpload({ params, body: { name: 'a.txt', size: 1 } })).data;
    const claims = { sub: person.userId, email: person.email, email_verified: true };
    const token = () => issuer.token({ ...claims, workspace: house.workspaceId, scope: SCOPES.join(' ') });
    const [issued, another] = [await token(), person.key];
    expect([await statusWith(issued), await statusWith(another)]).toEqual([200, 200]);

    const waits = vi.spyOn(house.deps.watch, 'until');
    const waiting = refusal(person.client.files.get({ params: { id: file.id }, query: { wait: 50 } }), 'NOT_FOUND');
    await expect.poll(() => waits).toHaveBeenCalled();
    const stream = await post(house, person.key, currentRequest('subscriptions/listen', { notifications: {} }));
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);

    expect(await remove(person, '--json')).toMatchObject({ code: 0 });
    const removed = performance.now();
    await Promise.all([
      waiting,
      stream.text(),
      ...[issued, another].map((text) => eventually(async () => (await statusWith(text)) === 401, 'refused')),
    ]);
    // One second by the server's timers, plus slack for a busy machine.
    expect(performance.now() - removed).toBeLessThan(5000);

    expect(await statusWith(await token())).toBe(401);
    expect(await statusWith(await issuer.token({ ...claims, sub: 'another', workspace: house.workspaceId }))).toBe(401);
    const { data } = await owner.client.comments.get({ params: comment });
    expect(data).toMatchObject({ content: 'Mine', author: { id: person.userId, name: person.name } });
    expect((await owner.client.files.get({ params: { id: kept } })).data.createdBy.id).toBe(person.userId);
    await refusal(owner.client.files.get({ params: { id: file.id } }), 'NOT_FOUND');
    expect((await put(file.parts[0]?.url ?? '', Buffer.from('a'))).status).toBe(404);
    const shown = (await owner.client.members.listWorkspace()).data.map(({ user }) => user.id);
    expect(shown).not.toContain(person.userId);

    // A person who is added again is in no project, and old keys and links do not restore access.
    const again = await newcomer(house, { email: person.email });
    expect(again.userId).toBe(person.userId);
    expect(await statusWith(person.key)).toBe(401);
    await refusal(again.client.accessLinks.redeem({ body: { accessKey: String(accessKey) } }), 'NOT_FOUND');
  });

  test('the only owner of a project is not removed before it has another one', async () => {
    const person = await newcomer(house);
    const heir = await newcomer(house);
    const id = await newProject(person, [[heir, 'PROJECT_REVIEWER']], 'Lonely');
    const refused = await remove(person);
    expect(refused.code).toBe(1);
    expect(refused.errors).toContain(
      `--user: is the only owner of Lonely (${id}). Add another owner to each of these projects, or set one with --new-owner.\n`,
    );
    expect((await person.client.projects.get({ params: { id } })).data.role).toBe('PROJECT_OWNER');
    expect((await remove(person, '--new-owner', person.userId)).errors).toMatch(/another person/);
    expect((await remove(person, '--new-owner', heir.email)).code).toBe(0);
    expect((await heir.client.projects.get({ params: { id } })).data.role).toBe('PROJECT_OWNER');
  });

  test('another workspace keeps the person', async () => {
    const { foreigner } = house.people;
    const there = await newcomer(house, { workspaceId: foreigner.workspaceId });
    const here = await newcomer(house, { email: there.email });
    expect((await remove(here)).code).toBe(0);
    await eventually(async () => (await statusWith(here.key)) === 401, 'refused here');
    expect(await statusWith(there.key)).toBe(200);
    expect((await remove(here)).errors).toContain('--user: the workspace has no member with this id or e-mail\n');
  });

  test('workspaces and people are listed', async () => {
    const person = await newcomer(house, { displayName: 'Listed' });
    const workspaces = await reviewJson<{ id: string; name: string; people: number }[]>(
      settings(),
      'workspace',
      'list',
    );
    expect(workspaces.map(({ name }) => name)).toEqual(['Studio', 'Another studio']);
    expect(workspaces[0]?.people).toBeGreaterThanOrEqual(7);
    const at = ['--workspace', house.workspaceId];
    const people = await reviewJson<{ id: string }[]>(settings(), 'user', 'list', ...at);
    expect(people.find(({ id }) => id === person.userId)).toMatchObject({
      email: person.email,
      name: person.name,
      displayName: 'Listed',
      workspaceId: house.workspaceId,
    });
    expect(people.map(({ id }) => id)).not.toContain(house.people.foreigner.userId);
    const { output } = await review(settings(), 'user', 'list');
    expect(output.split('\n')[0]).toMatch(/^ID +E-MAIL +NAME +WORKSPACE +JOINED$/);
    expect(output).toContain('foreigner@example.com');
  });
});
