import { expect, test } from 'vitest';
import { newId, newUuid } from '../db/ids.ts';
import { json, onEachDatabase, type PersonName } from '../test/house.ts';
import { problemIn } from '../test/problem-in.ts';

/** A response without the fields that identify the request. */
async function told(answer: Response): Promise<string> {
  const { instance, requestId } = await problemIn(answer.clone(), 'NOT_FOUND');
  const body = (await answer.text()).replace(JSON.stringify(instance), '').replace(requestId, '');
  const headers = [...answer.headers].filter(([name]) => !['x-request-id', 'date', 'content-length'].includes(name));
  return JSON.stringify([body, headers]);
}

onEachDatabase((house) => {
  const cases = (): [string, PersonName, string][] => [
    ['an unknown id', 'owner', newUuid()],
    ['a malformed id', 'owner', 'nonsense'],
    ['an id of another kind', 'owner', newId('DX')],
    ['a NUL', 'owner', '%00'],
    ['an id with a NUL behind it', 'owner', `${house().projectId}%00`],
    ['a space behind it', 'owner', `${house().projectId}%20`],
    ['a slash', 'owner', '%2F'],
    ['a broken percent encoding', 'owner', '%E0%A4%A'],
    ['a lone percent sign', 'owner', '%'],
    ['half a character', 'owner', '%C3'],
    ['a quote', 'owner', "'%20or%20'1'='1"],
    ['a very long one', 'owner', 'a'.repeat(8000)],
    ["another workspace's", 'foreigner', house().projectId],
    ['not a member', 'stranger', house().projectId],
  ];

  test.each([
    ['GET', ''],
    ['GET', '/folders'],
    ['POST', '/folders'],
    ['PATCH', ''],
    ['POST', '/delete'],
  ])('%s /api/projects/:id%s: the same 404 for unknown and invisible projects', async (method, rest) => {
    const { body = null, headers = {} } = method === 'GET' || rest === '/delete' ? {} : json({ name: 'A' });
    // Compression depends on the length, and that on the path, which the body repeats.
    const sent = { body, headers: { ...headers, 'accept-encoding': 'identity' } };
    const answers = new Map<string, string>();
    for (const [what, person, id] of cases()) {
      answers.set(what, await told(await house().request(person, method, `/api/projects/${id}${rest}`, sent)));
    }
    const expected = answers.get('an unknown id');
    expect([...answers].filter(([, answer]) => answer !== expected)).toEqual([]);
  });

  test('the same applies to folders and members, whose visibility follows from their project', async () => {
    const { people, projectId } = house();
    const folder = await people.owner.client.folders.create({ params: { id: projectId }, body: { name: 'A' } });
    const members = await people.owner.client.members.list({ params: { id: projectId } });
    const addresses: [string, string][] = [
      [`/api/folders/${folder.data.id}`, `/api/folders/${newId('DX')}`],
      [`/api/project-members/${members.data[0]?.id}`, `/api/project-members/${newUuid()}`],
    ];
    for (const [hidden, unknown] of addresses) {
      const expected = await told(await house().request('owner', 'DELETE', unknown));
      expect(await told(await house().request('stranger', 'DELETE', hidden))).toBe(expected);
      expect(await told(await house().request('foreigner', 'DELETE', hidden))).toBe(expected);
    }
  });
});
