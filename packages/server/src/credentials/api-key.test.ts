import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { json, onEachDatabase } from '../test/house.ts';
import { isApiKey, newApiKey } from './api-key.ts';

test('a key is the prefix, 30 characters of base 62 and 6 of a checksum, and no two are alike', () => {
  const keys = Array.from({ length: 1000 }, newApiKey);
  for (const key of keys) {
    expect(key).toMatch(/^prs_k_[0-9A-Za-z]{36}$/);
    expect(isApiKey(key)).toBe(true);
  }
  expect(new Set(keys).size).toBe(keys.length);
});

test('the checksum detects any wrong character and any two swapped ones', () => {
  const key = newApiKey();
  for (let place = 0; place < key.length; place++) {
    for (const other of ['0', 'Z', 'a', '_', ' ', 'é']) {
      if (key[place] === other) continue;
      expect(isApiKey(key.slice(0, place) + other + key.slice(place + 1))).toBe(false);
    }
    const [here = '', next = ''] = key.slice(place);
    if (here === next || place > key.length - 2) continue;
    expect(isApiKey(key.slice(0, place) + next + here + key.slice(place + 2))).toBe(false);
  }
});

test.each(['', 'prs_k_', ' ', `${newApiKey()} `, ` ${newApiKey()}`, `${newApiKey()}\n`])('"%s" is no key', (text) => {
  expect(isApiKey(text)).toBe(false);
});

onEachDatabase((house) => {
  test('only the SHA-256 of a key is stored, never the key itself', async () => {
    const { db } = house().deps;
    const { key, client } = await house().withScopes('owner', ['folders:write', 'files:read']);
    await client.folders.create({ params: { id: house().projectId }, body: { name: 'A' } });
    const create = json({ name: 'B' }, { authorization: `Bearer ${key}`, 'idempotency-key': 'stored' });
    await house().request(null, 'POST', `/api/projects/${house().projectId}/folders`, create);

    const hash = createHash('sha256').update(key).digest('hex');
    const row = await db.selectFrom('api_keys').selectAll().where('hash', '=', hash).executeTakeFirstOrThrow();
    expect(row).toMatchObject({ hint: key.slice(-4), scopes: 'folders:write files:read', revoked_at: null });

    const tables = await db.introspection.getTables();
    expect(tables.map(({ name }) => name)).toContain('api_keys');
    for (const { name } of tables) {
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(db);
      const stored = JSON.stringify(rows);
      for (const { key } of Object.values(house().people)) expect(stored).not.toContain(key);
      expect(stored).not.toContain(key.slice(6, 36));
    }
  });
});
