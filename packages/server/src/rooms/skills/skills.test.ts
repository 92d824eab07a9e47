import type { ApiProblem } from '@review/client';
import { SCOPES, type Scope } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { type Bodies, testAccess } from '../../test/access.ts';
import { type House, json, onEachDatabase, refusal } from '../../test/house.ts';

const WIDE = '\u{1F3AC}';
const RECORD_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/;
const UNKNOWN_SKILL = `SK${'0'.repeat(20)}`;
const UNKNOWN_VERSION = `SV${'0'.repeat(20)}`;

type Fields = Parameters<House['people']['owner']['client']['skills']['create']>[0]['body'];

const skillsOf = (house: House) => house.people.owner.client.skills;

async function newSkill(house: House, fields: Partial<Fields> = {}): Promise<string> {
  const body = { name: 'Colour check', description: 'Checks the colours of a shot.', ...fields };
  return (await skillsOf(house).create({ body })).data.id;
}

const read = async (house: House, id: string) => (await skillsOf(house).get({ params: { id } })).data;

const publish = async (house: House, id: string) =>
  (await skillsOf(house).publish({ params: { id }, body: { content: '# Look' } })).data.id;

const errorsOf = (problem: ApiProblem) => problem.errors.map(({ pointer, code }) => `${pointer} ${code}`);

/** Field, a value at the limit, a value beyond it, and the error of the latter. */
const BOUNDS = [
  ['name', 'a', '', '/name TOO_SHORT'],
  ['name', 'a'.repeat(100), 'a'.repeat(101), '/name TOO_LONG'],
  ['name', WIDE.repeat(100), WIDE.repeat(101), '/name TOO_LONG'],
  ['description', 'a', '', '/description TOO_SHORT'],
  ['description', 'a'.repeat(1024), 'a'.repeat(1025), '/description TOO_LONG'],
  ['description', WIDE.repeat(1024), WIDE.repeat(1025), '/description TOO_LONG'],
] as const;

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  PATCH /api/skills/:id          | skills:write | - | D | update_skill          | 204
  POST /api/skills/:id/versions  | skills:write | - | 3 | publish_skill_version | 201
  QUERY /api/skills              | skills:read  | - | D | list_skills           | 200
  GET /api/skills/:id            | skills:read  | - | D | get_skill             | 200
  GET /api/skills/:id/export     | skills:read  | - | D | -                     | 200
  GET /api/skill-versions/:id    | skills:read  | - | D | -                     | 200
  POST /api/skills               | skills:write | - | 3 | -                     | 201
  DELETE /api/skills/:id         | skills:write | - | 3 | -                     | 204
  DELETE /api/skill-versions/:id | skills:write | - | 3 | -                     | 204`;

const BODIES: Bodies = {
  'QUERY /api/skills': () => ({}),
  'POST /api/skills': () => ({ name: 'Skill', description: 'What it is for.' }),
  'PATCH /api/skills/:id': () => ({ name: 'Renamed' }),
  'POST /api/skills/:id/versions': () => ({ content: '# How' }),
};

onEachDatabase((house) => {
  describe('create', () => {
    test('answers the id only, and the record has the given fields', async () => {
      const fields = {
        name: 'Colour check',
        description: 'Checks the colours of a shot.',
        metadata: { author: 'Ada', zeta: '1' },
        allowedTools: ['Read', 'Bash(git add:*)'],
        license: 'Apache-2.0',
      };
      const created = await skillsOf(house()).create({ body: fields });
      expect(created).toEqual({ data: { id: expect.stringMatching(/^SK[0-9A-HJKMNP-TV-Z]{20}$/) } });
      const skill = await read(house(), created.data.id);
      expect(skill).toEqual({
        id: created.data.id,
        ...fields,
        default: null,
        createdAt: expect.stringMatching(RECORD_TIME),
        updatedAt: skill.createdAt,
        versions: [],
      });
    });

    test.each([
      ['left out', {}],
      ['null', { metadata: null, allowedTools: null, license: null }],
    ])('metadata, allowedTools and license that are %s are null', async (_, fields) => {
      const skill = await read(house(), await newSkill(house(), fields));
      expect(skill).toMatchObject({ metadata: null, allowedTools: null, license: null });
    });

    test('an empty map and an empty list are stored as such', async () => {
      const skill = await read(house(), await newSkill(house(), { metadata: {}, allowedTools: [], license: '' }));
      expect(skill).toMatchObject({ metadata: {}, allowedTools: [], license: '' });
    });

    test.each(BOUNDS)('%s: %.12s is taken, past the bound is refused', async (field, edge, past, error) => {
      const skill = await read(house(), await newSkill(house(), { [field]: edge }));
      expect(skill[field]).toBe(edge);
      const problem = await refusal(newSkill(house(), { [field]: past }), 'INVALID_REQUEST');
      expect(errorsOf(problem)).toEqual([error]);
    });

    test.each([
      ['without a name', { description: 'b' }, ['/name']],
      ['without a description', { name: 'a' }, ['/description']],
      ['with a null name', { name: null, description: 'b' }, ['/name']],
      ['with a field that does not exist', { name: 'a', description: 'b', licence: 'MIT' }, ['/licence']],
      ['with a default', { name: 'a', description: 'b', default: { id: UNKNOWN_VERSION } }, ['/default']],
      ['with metadata of other than strings', { name: 'a', description: 'b', metadata: { n: 1 } }, ['/metadata/n']],
      ['with tools of other than strings', { name: 'a', description: 'b', allowedTools: [1] }, ['/allowedTools/0']],
      ['with tools as one string', { name: 'a', description: 'b', allowedTools: 'Read' }, ['/allowedTools']],
    ])('%s is 400', async (_, body, pointers) => {
      const response = await house().request('owner', 'POST', '/api/skills', json(body));
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        code: 'INVALID_REQUEST',
        errors: pointers.map((pointer) => ({ pointer })),
      });
    });
  });

  describe('list', () => {
    test('returns the skills newest first, page by page, by QUERY and by GET', async () => {
      const made: string[] = [];
      for (let count = 0; count < 51; count++) made.push(await newSkill(house()));
      made.reverse();
      const first = await skillsOf(house()).list();
      expect(first.data.map(({ id }) => id)).toEqual(made.slice(0, 50));
      const next = first.page.next ?? '';
      const second = await skillsOf(house()).list({ body: { next } });
      expect(second.data[0]?.id).toBe(made[50]);
      const byGet = await house().request('owner', 'GET', `/api/skills?next=${next}`);
      expect(await byGet.json()).toEqual(second);
      await refusal(house().people.foreigner.client.skills.list({ body: { next } }), 'INVALID_CURSOR');
    });

    test('leaves out long fields', async () => {
      const { client } = house().people.owner;
      const { data } = await client.skills.create({
        body: { name: 'Large', description: 'Large', license: 'x'.repeat(1024), metadata: { a: 'x'.repeat(512) } },
      });
      await client.skills.publish({ params: data, body: { content: 'x'.repeat(200_000) } });
      const listed = (await client.skills.list()).data.find(({ id }) => id === data.id);
      expect(Object.keys(listed ?? {}).sort()).toEqual([
        'createdAt',
        'default',
        'description',
        'id',
        'name',
        'updatedAt',
      ]);
    });

    test('is the same for everyone in the workspace, and empty for others', async () => {
      const id = await newSkill(house());
      const idsFor = async (person: 'stranger' | 'foreigner') =>
        (await house().people[person].client.skills.list()).data.map((skill) => skill.id);
      expect(await idsFor('stranger')).toContain(id);
      expect(await idsFor('foreigner')).not.toContain(id);
    });
  });

  describe('update', () => {
    test('answers 204 without a body', async () => {
      const id = await newSkill(house());
      const response = await house().request('owner', 'PATCH', `/api/skills/${id}`, json({ name: 'b' }));
      expect([response.status, await response.text()]).toEqual([204, '']);
    });

    test.each([
      ['name', 'Another name'],
      ['description', 'Another description'],
      ['metadata', { other: 'thing' }],
      ['allowedTools', ['Write']],
      ['license', 'MIT'],
      ['metadata', null],
      ['allowedTools', null],
      ['license', null],
    ])('of %s to %j changes only that field and updatedAt', async (field, value) => {
      const id = await newSkill(house(), { metadata: { a: 'b' }, allowedTools: ['Read'], license: 'Apache-2.0' });
      const before = await read(house(), id);
      await skillsOf(house()).update({ params: { id }, body: { [field]: value } });
      const after = await read(house(), id);
      expect(after).toEqual({ ...before, [field]: value, updatedAt: after.updatedAt });
      expect(after.updatedAt > before.updatedAt).toBe(true);
    });

    test('no field is required', async () => {
      const id = await newSkill(house());
      const before = await read(house(), id);
      await skillsOf(house()).update({ params: { id }, body: {} });
      const after = await read(house(), id);
      expect(after).toEqual({ ...before, updatedAt: after.updatedAt });
    });

    test('concurrent changes of different fields are both kept', async () => {
      const id = await newSkill(house());
      const { owner, manager } = house().people;
      await Promise.all([
        owner.client.skills.update({ params: { id }, body: { name: 'New name' } }),
        manager.client.skills.update({ params: { id }, body: { description: 'New description' } }),
      ]);
      expect(await read(house(), id)).toMatchObject({ name: 'New name', description: 'New description' });
    });

    test.each(BOUNDS)('%s: %.12s is taken, past the bound is refused', async (field, edge, past, error) => {
      const id = await newSkill(house());
      await skillsOf(house()).update({ params: { id }, body: { [field]: edge } });
      expect((await read(house(), id))[field]).toBe(edge);
      const problem = await refusal(
        skillsOf(house()).update({ params: { id }, body: { [field]: past } }),
        'INVALID_REQUEST',
      );
      expect(errorsOf(problem)).toEqual([error]);
    });

    test.each([
      ['a null name', { name: null }, '/name'],
      ['a null description', { description: null }, '/description'],
      ['a null default', { default: null }, '/default'],
      ['a default without an id', { default: {} }, '/default/id'],
      ['a default with a malformed id', { default: { id: 'SV1' } }, '/default/id'],
      ['a default with an unknown field', { default: { id: UNKNOWN_VERSION, version: 1 } }, '/default/version'],
      ['an unknown field', { tools: [] }, '/tools'],
    ])('%s is 400', async (_, body, pointer) => {
      const id = await newSkill(house());
      const response = await house().request('owner', 'PATCH', `/api/skills/${id}`, json(body));
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer }] });
    });

    test('chooses another of its versions as the default', async () => {
      const id = await newSkill(house());
      const first = await publish(house(), id);
      const second = await publish(house(), id);
      expect((await read(house(), id)).default).toEqual({ id: first });
      await skillsOf(house()).update({ params: { id }, body: { default: { id: second } } });
      const { default: chosen, versions } = await read(house(), id);
      expect(chosen).toEqual({ id: second });
      expect(versions.map((version) => [version.id, version.isDefault])).toEqual([
        [first, false],
        [second, true],
      ]);
    });

    test('a default that is no version of this skill is 422, and nothing is changed', async () => {
      const id = await newSkill(house());
      const ofAnotherSkill = await publish(house(), await newSkill(house()));
      const foreign = house().people.foreigner.client.skills;
      const foreignSkill = await foreign.create({ body: { name: 'a', description: 'b' } });
      const ofAnotherWorkspace = await foreign.publish({
        params: { id: foreignSkill.data.id },
        body: { content: 'c' },
      });
      for (const version of [ofAnotherSkill, ofAnotherWorkspace.data.id, UNKNOWN_VERSION]) {
        const body = { name: 'Not this', default: { id: version } };
        const problem = await refusal(skillsOf(house()).update({ params: { id }, body }), 'REFERENCE_NOT_FOUND');
        expect(problem.status).toBe(422);
        expect(errorsOf(problem)).toEqual(['/default/id REFERENCE_NOT_FOUND']);
      }
      expect(await read(house(), id)).toMatchObject({ name: 'Colour check', default: null });
    });
  });

  test('delete deletes the versions too', async () => {
    const id = await newSkill(house());
    const version = await publish(house(), id);
    await skillsOf(house()).delete({ params: { id } });
    await refusal(read(house(), id), 'NOT_FOUND');
    await refusal(skillsOf(house()).getVersion({ params: { id: version } }), 'NOT_FOUND');
    const { data } = await skillsOf(house()).list();
    expect(data.map((skill) => skill.id)).not.toContain(id);
  });

  describe('visibility', () => {
    const calls = (client: House['people']['owner']['client'], skill: string, version: string) => ({
      get: () => client.skills.get({ params: { id: skill } }),
      update: () => client.skills.update({ params: { id: skill }, body: { name: 'a' } }),
      delete: () => client.skills.delete({ params: { id: skill } }),
      export: () => client.skills.export({ params: { id: skill } }),
      publish: () => client.skills.publish({ params: { id: skill }, body: { content: 'c' } }),
      getVersion: () => client.skills.getVersion({ params: { id: version } }),
      deleteVersion: () => client.skills.deleteVersion({ params: { id: version } }),
    });
    type Verb = keyof ReturnType<typeof calls>;
    const verbs = ['get', 'update', 'delete', 'export', 'publish', 'getVersion', 'deleteVersion'] as const;

    test.each(verbs)('%s: what belongs to another workspace, is unknown or malformed is 404', async (verb: Verb) => {
      const skill = await newSkill(house());
      const version = await publish(house(), skill);
      const { owner, foreigner } = house().people;
      await refusal(calls(foreigner.client, skill, version)[verb](), 'NOT_FOUND');
      await refusal(calls(owner.client, UNKNOWN_SKILL, UNKNOWN_VERSION)[verb](), 'NOT_FOUND');
      await refusal(calls(owner.client, version, skill)[verb](), 'NOT_FOUND');
      expect((await read(house(), skill)).versions).toHaveLength(1);
    });

    test('any user of the workspace can change a skill', async () => {
      const id = await newSkill(house());
      await house().people.stranger.client.skills.update({ params: { id }, body: { name: 'By a stranger' } });
      expect((await read(house(), id)).name).toBe('By a stranger');
    });
  });

  describe('scopes', () => {
    const calls = (client: House['people']['owner']['client'], skill: string, version: string) => ({
      list: () => client.skills.list(),
      get: () => client.skills.get({ params: { id: skill } }),
      export: () => client.skills.export({ params: { id: skill } }),
      getVersion: () => client.skills.getVersion({ params: { id: version } }),
      create: () => client.skills.create({ body: { name: 'a', description: 'b' } }),
      update: () => client.skills.update({ params: { id: skill }, body: {} }),
      publish: () => client.skills.publish({ params: { id: skill }, body: { content: 'c' } }),
      deleteVersion: () => client.skills.deleteVersion({ params: { id: version } }),
      delete: () => client.skills.delete({ params: { id: skill } }),
    });
    const needed: [keyof ReturnType<typeof calls>, Scope][] = [
      ['list', 'skills:read'],
      ['get', 'skills:read'],
      ['export', 'skills:read'],
      ['getVersion', 'skills:read'],
      ['create', 'skills:write'],
      ['update', 'skills:write'],
      ['publish', 'skills:write'],
      ['deleteVersion', 'skills:write'],
      ['delete', 'skills:write'],
    ];

    test.each(needed)('%s needs %s and nothing else', async (verb, scope) => {
      const skill = await newSkill(house());
      await publish(house(), skill);
      const version = await publish(house(), skill);
      const all = SCOPES.filter((other) => other !== scope);
      const lacking = await house().withScopes('owner', all);
      await refusal(calls(lacking.client, skill, version)[verb](), 'INSUFFICIENT_SCOPE');
      const holding = await house().withScopes('owner', [scope]);
      await calls(holding.client, skill, version)[verb]();
    });
  });

  testAccess(house, 'skills', ACCESS, BODIES);
});
