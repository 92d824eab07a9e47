import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type House, onEachDatabase, refusal } from '../../test/house.ts';

const skillsOf = (house: House) => house.people.owner.client.skills;

onEachDatabase((house) => {
  test('export answers the default version as text/markdown', async () => {
    const { create, publish } = skillsOf(house());
    const skill = await create({
      body: {
        name: 'Colour Check',
        description: 'Checks: colours',
        license: 'MIT',
        allowedTools: ['Read', 'Grep'],
        metadata: { author: 'Ada' },
      },
    });
    const params = { id: skill.data.id };
    await publish({ params, body: { content: '# Old' } });
    await publish({ params, body: { content: '# New \u{1F3AC}\n', isDefault: true } });
    await publish({ params, body: { content: '# Draft' } });

    const response = await house().request('owner', 'GET', `/api/skills/${params.id}/export`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/markdown\b/);
    const [, frontMatter = '', content] = /^---\n(.*?\n)---\n\n(.*)$/s.exec(await response.text()) ?? [];
    expect(content).toBe('# New \u{1F3AC}\n');
    expect(parse(frontMatter)).toEqual({
      name: 'colour-check',
      description: 'Checks: colours',
      license: 'MIT',
      'allowed-tools': 'Read Grep',
      metadata: { author: 'Ada', 'display-name': 'Colour Check' },
    });
  });

  test('a skill without a version has nothing to export: 404', async () => {
    const skill = await skillsOf(house()).create({ body: { name: 'a', description: 'b' } });
    const problem = await refusal(skillsOf(house()).export({ params: { id: skill.data.id } }), 'NOT_FOUND');
    expect(problem.status).toBe(404);
  });
});
