import { created } from '@review/contract';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { DRAWING } from '../rooms/comments/test/talk.ts';
import { uploadFile } from '../rooms/uploads/test/uploads.ts';
import { json, onEachDatabase } from '../test/house.ts';
import { problemIn } from '../test/problem-in.ts';

const Created = created(z.string());

onEachDatabase((house) => {
  test.each([
    ['/api/projects', { name: 'A' }, '/api/projects/'],
    ['/api/projects/:id/versions', { name: 'A' }, '/api/versions/'],
    ['/api/projects/:id/comments', { content: 'A' }, '/api/comments/'],
    ['/api/projects/:id/access-links', { role: 'PROJECT_REVIEWER' }, '/api/project-access-links/'],
    ['/api/projects/:id/files/upload.multipart', { name: 'a.txt', size: 1 }, '/api/files/'],
    ['/api/skills', { name: 'A', description: 'A' }, '/api/skills/'],
  ])('POST %s has a Location of the new record', async (path, body, location) => {
    const answer = await house().request('owner', 'POST', path.replace(':id', house().projectId), json(body));
    const { data } = Created.parse(await answer.json());
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `${house().url}${location}${data.id}`]);
    const headers = { authorization: `Bearer ${house().people.owner.key}` };
    expect((await fetch(answer.headers.get('location') ?? '', { headers })).status).toBe(200);
  });

  test('a comment on a file and a version of a skill have one too', async () => {
    const skill = (await house().people.owner.client.skills.create({ body: { name: 'A', description: 'A' } })).data.id;
    for (const [path, body, location] of [
      [`/api/files/${await uploadFile(house())}/comments`, { annotation: DRAWING, anchor: 1 }, '/api/comments/'],
      [`/api/skills/${skill}/versions`, { markdown: '# A' }, '/api/skill-versions/'],
    ] as const) {
      const answer = await house().request('owner', 'POST', path, json(body));
      const { data } = Created.parse(await answer.json());
      expect(answer.headers.get('location')).toBe(`${house().url}${location}${data.id}`);
    }
  });

  test('records without a GET route have no Location', async () => {
    const answer = await house().request(
      'owner',
      'POST',
      `/api/projects/${house().projectId}/folders`,
      json({ name: 'A' }),
    );
    expect([answer.status, answer.headers.get('location')]).toEqual([201, null]);
  });

  test.each(['GET', 'DELETE', 'PATCH'])('%s of the redeem path is 405, not an unknown link', async (method) => {
    const answer = await house().request('owner', method, '/api/project-access-links/redeem');
    await problemIn(answer, 'METHOD_NOT_ALLOWED');
    expect(answer.headers.get('allow')).toBe('OPTIONS, POST');
  });
});
