import { expect, test } from 'vitest';
import { type House, json, onEachDatabase } from '../../test/house.ts';
import { newcomer } from '../../test/people.ts';

interface Texts {
  name: string;
  description?: string;
}

/** The names that a keyword finds among those projects. */
async function found(house: House, projects: Texts[], keyword: string): Promise<string[]> {
  const { client } = await newcomer(house);
  for (const body of projects) await client.projects.create({ body });
  const { data } = await client.projects.list({ body: { keyword, sort: { type: 'createdAt', direction: 'asc' } } });
  return data.map(({ name }) => name);
}

onEachDatabase((house) => {
  test('a keyword matches anywhere in the name and in the description', async () => {
    const projects = [
      { name: 'The lamp film' },
      { name: 'Spring', description: 'about a LAMP' },
      { name: 'Autumn', description: 'about a tree' },
    ];
    expect(await found(house(), projects, 'amp')).toEqual(['The lamp film', 'Spring']);
  });

  test('a keyword does not match across the name and the description', async () => {
    const projects = [{ name: 'one', description: 'two' }];
    expect(await found(house(), projects, 'onetwo')).toEqual([]);
    expect(await found(house(), projects, 'one\ntwo')).toEqual([]);
    expect(await found(house(), projects, '\n')).toEqual([]);
  });

  test.each([
    ['ASCII', 'FILM', 'film'],
    ['an umlaut, upper for lower', 'ärger', 'ÄRGER'],
    ['an umlaut, lower for upper', 'ÄRGER', 'ärger'],
    ['a dotted capital I', 'İstanbul', 'İSTANBUL'],
    ['a dotted capital I, by its lower case', 'İstanbul', 'i\u0307stanbul'],
    ['a dotted capital I, as it is typed without one', 'İstanbul', 'istanbul'],
    ['a sharp s, by its upper case', 'Straße', 'STRASSE'],
    ['a sharp s, by its capital', 'straße', 'STRAẞE'],
    ['a double s, by a sharp one', 'STRASSE', 'straße'],
    ['a sigma at the end of a word', 'ΟΔΟΣ', 'οδος'],
    ['a sigma at the end, by the common one', 'οδος', 'οδοσ'],
    ['a sigma in a word, by the end of a keyword', 'ΜΟΥΣΙΚΗ', 'ΜΟΥΣ'],
    ['Cyrillic', 'ПРОЕКТ', 'проект'],
    ['a letter outside the basic plane', '\u{10400}', '\u{10428}'],
    ['a composed letter, by a decomposed one', 'caf\u00e9', 'CAFE\u0301'],
    ['a decomposed letter, by a composed one', 'cafe\u0301', 'CAF\u00c9'],
  ])('letters match in any case: %s', async (_, name, keyword) => {
    expect(await found(house(), [{ name }, { name: 'other' }], keyword)).toEqual([name]);
    expect(await found(house(), [{ name: 'by text', description: `<${name}>` }], keyword)).toEqual(['by text']);
  });

  test('letters with different accents differ', async () => {
    expect(await found(house(), [{ name: 'résumé' }], 'resume')).toEqual([]);
  });

  test.each([
    ['%', ['100% wool']],
    ['_', ['snake_case']],
    ['\\', ['back\\slash']],
    ['\\%', []],
    ['0%', ['100% wool']],
    ['s_o', []],
    ["'", ["it's"]],
    ['*', []],
  ])('the character in the keyword %j is literal', async (keyword, expected) => {
    const names = ['100% wool', 'snake_case', 'back\\slash', "it's", 'snow', 'plain'];
    expect(
      await found(
        house(),
        names.map((name) => ({ name })),
        keyword,
      ),
    ).toEqual(expected);
  });

  test('a keyword has 1 to 100 characters, counted as code points', async () => {
    const { client } = await newcomer(house());
    const name = '\u{1F3AC}'.repeat(100);
    await client.projects.create({ body: { name } });
    expect((await client.projects.list({ body: { keyword: name } })).data).toHaveLength(1);
    for (const keyword of ['', 'a'.repeat(101), '\u{1F3AC}'.repeat(101), 'a\0', 7, null]) {
      const response = await house().request('owner', 'QUERY', '/api/projects', json({ keyword }));
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer: '/keyword' }] });
    }
  });
});
