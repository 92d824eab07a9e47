import { afterAll, beforeAll, expect, test } from 'vitest';
import { type House, openHouse } from '../test/house.ts';
import { review, reviewJson } from '../test/review.ts';

let house: House & AsyncDisposable;
const settings = () => ({ DATABASE_URL: house.databaseUrl });
const database = () => `Database: ${house.databaseUrl}\n`;

beforeAll(async () => {
  house = await openHouse('sqlite');
});
afterAll(() => house[Symbol.asyncDispose]());

test('an e-mail that has an account joins that account to another workspace', async () => {
  const { owner, foreigner } = house.people;
  const create = (workspaceId: string, ...more: string[]) => {
    const at = ['--workspace', workspaceId, '--email', 'grace@example.com'];
    return reviewJson<{ id: string }>(settings(), 'user', 'create', ...at, ...more);
  };
  const first = await create(owner.workspaceId, '--name', 'Grace', '--avatar-url', 'https://a.example/1.png');
  const own = ['--display-name', 'Admiral', '--avatar-url', 'https://a.example/2.png'];
  const second = await create(foreigner.workspaceId, '--name', 'Other', ...own);
  const third = await create(owner.workspaceId, '--name', 'Other', '--display-name', 'Amazing Grace');
  expect([second.id, third.id]).toEqual([first.id, first.id]);

  const shown = async ({ client }: typeof owner) => {
    const { data } = await client.members.listWorkspace();
    return data.filter(({ user }) => user.id === first.id).map(({ user }) => [user.name, user.avatarUrl]);
  };
  expect(await shown(owner)).toEqual([['Amazing Grace', 'https://a.example/1.png']]);
  expect(await shown(foreigner)).toEqual([['Admiral', 'https://a.example/2.png']]);
});

test('a subject of the issuer is linked to an account, and to another one later', async () => {
  const issuer = 'https://login.example.com';
  const oauth = { ...settings(), OAUTH_ISSUER: issuer };
  const link = (email: string, subject: string) =>
    reviewJson(oauth, 'user', 'link', '--email', email, '--subject', subject);
  const { owner, manager } = house.people;
  await link('owner@example.com', 'one');
  await link('Owner@example.com', 'two');
  await link('manager@example.com', 'one');
  const links = await house.deps.db.selectFrom('oauth_subjects').selectAll().orderBy('subject').execute();
  expect(links.map(({ subject, user_id }) => [subject, user_id])).toEqual([
    ['one', manager.userId],
    ['two', owner.userId],
  ]);
  const nobody = await review(oauth, 'user', 'link', '--email', 'nobody@example.com', '--subject', 'one');
  expect([nobody.code, nobody.errors]).toEqual([
    1,
    `${database()}--email: there is no account with the e-mail nobody@example.com\n`,
  ]);
  const alone = await review(settings(), 'user', 'link', '--email', 'owner@example.com', '--subject', 'one');
  expect([alone.code, alone.errors]).toEqual([
    1,
    `${database()}OAUTH_ISSUER: required; set the same value as for the server\n`,
  ]);
});

test('migrate on a schema that is up to date applies nothing', async () => {
  expect(await review(settings(), 'migrate')).toEqual({
    code: 0,
    output: 'The schema is up to date.\n',
    errors: database(),
  });
});

test('the output is a table, and a key is printed once', async () => {
  const { workspaceId, people } = house;
  const at = ['--workspace', workspaceId, '--user', people.owner.userId];
  const made = await review(settings(), 'key', 'create', ...at, '--scopes', 'files:read');
  expect(made.output).toMatch(/^Key [0-9a-f-]{36}\nprs_k_[0-9A-Za-z]{36}\n/);
  const { output } = await review(settings(), 'key', 'list');
  expect(output.split('\n')[0]).toMatch(/^ID +USER +KEY +SCOPES +EXPIRES +LAST USED$/);
  expect(output).toMatch(/^[0-9a-f-]{36} +owner@example.com +….{4} +files:read +never expires +never used$/m);
  expect(output).toContain('foreigner@example.com');
  expect(output).not.toContain('prs_k_');
});
