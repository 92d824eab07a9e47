import type { ApiProblem } from '@review/client';
import { describe, expect, test } from 'vitest';
import { type House, json, onEachDatabase, refusal } from '../../test/house.ts';

const WIDE = '\u{1F3AC}';
const RECORD_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/;

const skillsOf = (house: House) => house.people.owner.client.skills;

const newSkill = async (house: House): Promise<string> =>
  (await skillsOf(house).create({ body: { name: 'Colour check', description: 'Checks colours.' } })).data.id;

type Publication = { content: string; note?: string; isDefault?: boolean };

const publish = async (house: House, id: string, publication: Publication = { content: '# Look' }) =>
  (await skillsOf(house).publish({ params: { id }, body: publication })).data.id;

const read = async (house: House, id: string) => (await skillsOf(house).get({ params: { id } })).data;
const readVersion = async (house: House, id: string) => (await skillsOf(house).getVersion({ params: { id } })).data;
const errorsOf = (problem: ApiProblem) => problem.errors.map(({ pointer, code }) => `${pointer} ${code}`);

onEachDatabase((house) => {
  test('publish answers 201 with the id only, and the version has the given fields', async () => {
    const skill = await newSkill(house());
    const body = { content: '# Look\r\n\r\n*closely* \u{1F3AC}\n', note: 'The first one' };
    const response = await house().request('owner', 'POST', `/api/skills/${skill}/versions`, json(body));
    const answer = await response.json();
    expect([response.status, answer]).toEqual([
      201,
      { data: { id: expect.stringMatching(/^SV[0-9A-HJKMNP-TV-Z]{20}$/) } },
    ]);
    const { versions } = await read(house(), skill);
    const id = String(versions[0]?.id);
    expect(await readVersion(house(), id)).toEqual({
      id,
      skill: { id: skill },
      version: 1,
      ...body,
      isDefault: true,
      createdAt: expect.stringMatching(RECORD_TIME),
    });
  });

  test('the first version becomes the default even with isDefault false', async () => {
    const skill = await newSkill(house());
    const first = await publish(house(), skill, { content: 'a', isDefault: false });
    expect((await read(house(), skill)).default).toEqual({ id: first });
  });

  test('a later version becomes the default only with isDefault true', async () => {
    const skill = await newSkill(house());
    const first = await publish(house(), skill);
    await publish(house(), skill);
    await publish(house(), skill, { content: 'c', isDefault: false });
    expect((await read(house(), skill)).default).toEqual({ id: first });
    const last = await publish(house(), skill, { content: 'd', isDefault: true });
    expect((await read(house(), skill)).default).toEqual({ id: last });
    expect([(await readVersion(house(), first)).isDefault, (await readVersion(house(), last)).isDefault]).toEqual([
      false,
      true,
    ]);
  });

  test('the versions of a skill are listed by number, without their content', async () => {
    const skill = await newSkill(house());
    const first = await publish(house(), skill, { content: 'a', note: 'One' });
    const second = await publish(house(), skill, { content: 'b', isDefault: true });
    const createdAt = expect.stringMatching(RECORD_TIME);
    expect((await read(house(), skill)).versions).toEqual([
      { id: first, version: 1, note: 'One', isDefault: false, createdAt },
      { id: second, version: 2, note: null, isDefault: true, createdAt },
    ]);
  });

  test('each skill numbers its own versions', async () => {
    const [one, other] = [await newSkill(house()), await newSkill(house())];
    await publish(house(), one);
    await publish(house(), one);
    expect((await readVersion(house(), await publish(house(), other))).version).toBe(1);
  });

  test('twenty concurrent publishes get twenty numbers and one default', async () => {
    const skill = await newSkill(house());
    await Promise.all(Array.from({ length: 20 }, () => publish(house(), skill)));
    const { versions } = await read(house(), skill);
    expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(versions.filter(({ isDefault }) => isDefault)).toEqual([versions[0]]);
  });

  test('one idempotency key publishes one version', async () => {
    const skill = await newSkill(house());
    const send = () =>
      house().request(
        'owner',
        'POST',
        `/api/skills/${skill}/versions`,
        json({ content: 'a' }, { 'idempotency-key': 'x' }),
      );
    const first = await (await send()).json();
    expect(await (await send()).json()).toEqual(first);
    expect((await read(house(), skill)).versions).toHaveLength(1);
  });

  test.each([
    ['a', '', 'TOO_SHORT'],
    ['a'.repeat(1024), 'a'.repeat(1025), 'TOO_LONG'],
    [WIDE.repeat(1024), WIDE.repeat(1025), 'TOO_LONG'],
  ])('a note has 1-1024 characters: %.12s', async (edge, past, code) => {
    const skill = await newSkill(house());
    const version = await publish(house(), skill, { content: 'a', note: edge });
    expect((await readVersion(house(), version)).note).toBe(edge);
    const problem = await refusal(publish(house(), skill, { content: 'a', note: past }), 'INVALID_REQUEST');
    expect(errorsOf(problem)).toEqual([`/note ${code}`]);
  });

  test('content of 200,000 characters of four bytes is accepted; one more, or none, is refused', async () => {
    const skill = await newSkill(house());
    const content = WIDE.repeat(200_000);
    const version = await publish(house(), skill, { content });
    expect((await readVersion(house(), version)).content === content).toBe(true);
    const longer = await refusal(publish(house(), skill, { content: `${content}a` }), 'INVALID_REQUEST');
    expect(errorsOf(longer)).toEqual(['/content TOO_LONG']);
    const empty = await refusal(publish(house(), skill, { content: '' }), 'INVALID_REQUEST');
    expect(errorsOf(empty)).toEqual(['/content TOO_SHORT']);
  });

  test.each([
    ['no content', {}, '/content'],
    ['null content', { content: null }, '/content'],
    ['a null note', { content: 'a', note: null }, '/note'],
    ['a null isDefault', { content: 'a', isDefault: null }, '/isDefault'],
    ['isDefault as text', { content: 'a', isDefault: 'true' }, '/isDefault'],
    ['an unknown field', { content: 'a', version: 7 }, '/version'],
  ])('publish with %s is 400', async (_, body, pointer) => {
    const skill = await newSkill(house());
    const response = await house().request('owner', 'POST', `/api/skills/${skill}/versions`, json(body));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer }] });
  });

  describe('delete a version', () => {
    test('that is not the default', async () => {
      const skill = await newSkill(house());
      const first = await publish(house(), skill);
      const second = await publish(house(), skill);
      await skillsOf(house()).deleteVersion({ params: { id: second } });
      await refusal(readVersion(house(), second), 'NOT_FOUND');
      expect((await read(house(), skill)).versions.map(({ id }) => id)).toEqual([first]);
    });

    test('that is the default is 409, and it stays', async () => {
      const skill = await newSkill(house());
      const only = await publish(house(), skill);
      const problem = await refusal(skillsOf(house()).deleteVersion({ params: { id: only } }), 'DEFAULT_VERSION');
      expect(problem.status).toBe(409);
      expect((await readVersion(house(), only)).isDefault).toBe(true);
    });

    test('that was the default once', async () => {
      const skill = await newSkill(house());
      const first = await publish(house(), skill);
      const second = await publish(house(), skill, { content: 'b', isDefault: true });
      await skillsOf(house()).deleteVersion({ params: { id: first } });
      expect((await read(house(), skill)).versions.map(({ id }) => id)).toEqual([second]);
    });

    test('while it concurrently becomes the default: one request succeeds, and a default always exists', async () => {
      const skill = await newSkill(house());
      await publish(house(), skill);
      const second = await publish(house(), skill);
      const outcomes = await Promise.allSettled([
        skillsOf(house()).update({ params: { id: skill }, body: { default: { id: second } } }),
        skillsOf(house()).deleteVersion({ params: { id: second } }),
      ]);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const { default: chosen, versions } = await read(house(), skill);
      expect(versions.map(({ id }) => id)).toContain(chosen?.id);
    });
  });
});
