import { contractTools, SCOPES, type Scope } from '@review/contract';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { NO_LIMITS, PAGE } from '../rooms/generation/test/generations.ts';
import { attempt, newPicture, storeRendition, WEBP } from '../rooms/media/test/media.ts';
import { uploadFile } from '../rooms/uploads/test/uploads.ts';
import { onEachDatabase } from '../test/house.ts';
import { newcomer } from '../test/people.ts';
import { CLIENTS, dataOf, problemOfTool, type ToolAnswer, type ToolClient } from './test/clients.ts';

const Id = z.object({ id: z.string() });
const FILM = { outputType: 'VIDEO', outputModel: 'seedance-2.5', prompt: 'A harbour', folder: null, attachments: [] };

onEachDatabase((house) => {
  describe.each(Object.entries(CLIENTS))('a client of %s', (_, connect) => {
    const clients = new Map<string, Promise<ToolClient>>();
    afterAll(async () => {
      for (const client of clients.values()) await (await client)[Symbol.asyncDispose]();
    });
    const open = async (key: string) => {
      const client = await connect(house(), key);
      // The client validates results against the output schemas of listed tools.
      await client.list();
      return client;
    };
    /** The result of a tool for a person, who has one client. */
    const call = async (key: string, name: string, given?: Record<string, unknown>): Promise<ToolAnswer> => {
      const client = clients.get(key) ?? open(key);
      clients.set(key, client);
      return (await client).call(name, given);
    };
    const asOwner = (name: string, given?: Record<string, unknown>) => call(house().people.owner.key, name, given);
    const skill = async () => {
      const body = { name: 'Grading', description: 'How we grade' };
      return (await house().people.owner.client.skills.create({ body })).data.id;
    };

    describe('each of the nine named tools', () => {
      test('whoami', async () => {
        const seen = dataOf(await asOwner('whoami'), z.object({ workspace: Id, scopes: z.array(z.string()) }));
        expect(seen).toEqual({ workspace: { id: house().workspaceId }, scopes: SCOPES });
      });

      test('generate_file: answers at once, with a hint to poll', async () => {
        const answer = await asOwner('generate_file', { id: house().projectId, ...PAGE });
        const { id } = dataOf(answer, Id);
        expect(answer.content.at(-1)?.text).toMatch(/get_file.*wait/);
        const file = dataOf(await asOwner('get_file', { id }), z.object({ status: z.string(), mode: z.string() }));
        expect(file).toEqual({ status: 'GENERATING', mode: 'GENERATED' });
      });

      test('get_file shows the poster of a file that has one', async () => {
        const held = await attempt(house(), await newPicture(house()));
        await storeRendition(house(), held, { kind: 'POSTER', variant: 0 });
        const { content } = await asOwner('get_file', { id: held.id });
        expect(content.at(-1)).toEqual({ type: 'image', data: WEBP.toString('base64'), mimeType: 'image/webp' });
        const plain = await asOwner('get_file', { id: await uploadFile(house()) });
        expect(plain.content.map(({ type }) => type)).not.toContain('image');
      });

      test('create_folder', async () => {
        const given = { id: house().projectId, name: 'Boards' };
        const { id } = dataOf(await asOwner('create_folder', given), Id);
        const inside = dataOf(await asOwner('create_folder', { ...given, parent: { id } }), Id);
        const { data } = await house().people.owner.client.folders.list({ params: { id: house().projectId } });
        expect(data.find((folder) => folder.id === inside.id)).toMatchObject({ name: 'Boards', parent: { id } });
      });

      test('list_project_members and add_project_members', async () => {
        const person = await newcomer(house());
        const project = await house().people.owner.client.projects.create({ body: { name: 'Crew' } });
        const { id } = project.data;
        const members = [{ user: { id: person.userId }, role: 'PROJECT_MEMBER' }];
        const added = dataOf(await asOwner('add_project_members', { id, members }), z.array(Id));
        const listed = dataOf(await asOwner('list_project_members', { id }), z.array(Id.extend({ role: z.string() })));
        expect(listed).toContainEqual({ id: added[0]?.id, role: 'PROJECT_MEMBER' });
      });

      test('create_project_comment', async () => {
        const given = { id: house().projectId, content: 'Too dark' };
        const { id } = dataOf(await asOwner('create_project_comment', given), Id);
        const listed = dataOf(await asOwner('list_project_comments', { id: house().projectId }), z.array(Id));
        expect(listed).toContainEqual({ id });
      });

      test('get_project_access_link, its key only with the scope', async () => {
        const { client } = house().people.owner;
        const body = { role: 'PROJECT_REVIEWER' } as const;
        const { data } = await client.accessLinks.create({ params: { id: house().projectId }, body });
        const Link = z.object({ accessKey: z.string().nullable() });
        expect(dataOf(await asOwner('get_project_access_link', data), Link).accessKey).not.toBeNull();
        const { key } = await house().withScopes('owner', ['access-links:read']);
        expect(dataOf(await call(key, 'get_project_access_link', data), Link).accessKey).toBeNull();
      });

      test('update_skill: has no response body', async () => {
        const id = await skill();
        const answer = await asOwner('update_skill', { id, name: 'Colour' });
        expect(answer).toEqual({ content: [{ type: 'text', text: 'Done.' }] });
        expect(dataOf(await asOwner('get_skill', { id }), z.object({ name: z.string() }))).toEqual({ name: 'Colour' });
      });

      test('publish_skill_version', async () => {
        const id = await skill();
        const given = { id, content: '# Grade', note: 'First' };
        const version = dataOf(await asOwner('publish_skill_version', given), Id);
        expect(dataOf(await asOwner('get_skill', { id }), z.object({ default: Id }))).toEqual({ default: version });
      });
    });

    test('lists the tools that the scopes allow, and those without a scope', async () => {
      const listed = async (scopes: Scope[]) => {
        const { key } = await house().withScopes('owner', scopes);
        await using client = await connect(house(), key);
        return (await client.list()).sort();
      };
      expect(await listed([])).toEqual(['list_project_versions', 'whoami']);
      expect(await listed(['files:write'])).toEqual(['cancel_generation', 'list_project_versions', 'whoami']);
      expect(await listed(['skills:read', 'folders:write'])).toEqual([
        'create_folder',
        'get_skill',
        'list_project_versions',
        'list_skills',
        'whoami',
      ]);
      await using client = await connect(house(), house().people.owner.key);
      expect(await client.list()).toHaveLength(contractTools().length);
    });

    test('folders, access links, file comments and their replies can be listed', async () => {
      const { client } = house().people.owner;
      const params = { id: house().projectId };
      const folder = await client.folders.create({ params, body: { name: 'Rushes' } });
      const link = await client.accessLinks.create({ params, body: { role: 'PROJECT_REVIEWER' } });
      const file = { id: await uploadFile(house()) };
      const comment = await client.comments.createOnFile({ params: file, body: { content: 'Too dark' } });
      const body = { content: 'Agreed', parent: { id: comment.data.id } };
      const reply = await client.comments.createOnFile({ params: file, body });
      const idsOf = async (name: string, given: object) =>
        dataOf(await asOwner(name, { ...given }), z.array(Id)).map(({ id }) => id);
      expect(await idsOf('list_project_folders', params)).toContain(folder.data.id);
      expect(await idsOf('list_project_access_links', params)).toContain(link.data.id);
      expect(await idsOf('list_file_comments', file)).toEqual([comment.data.id]);
      expect(await idsOf('list_comment_replies', comment.data)).toEqual([reply.data.id]);
    });

    test('get_file_download returns a link that needs no credential', async () => {
      const id = await uploadFile(house(), Buffer.from('the cut'));
      const { url } = dataOf(await asOwner('get_file_download', { id }), z.object({ url: z.url() }));
      expect(await (await fetch(url)).text()).toBe('the cut');
    });

    test('an invisible project gets the same result as one that does not exist', async () => {
      for (const person of ['stranger', 'foreigner'] as const) {
        const { key } = house().people[person];
        for (const id of [house().projectId, crypto.randomUUID(), 'nonsense', 7]) {
          const answer = await call(key, 'create_folder', { id, name: 'A' });
          expect(problemOfTool(answer, 'NOT_FOUND').detail).toMatch(/does not exist, or you cannot see it/);
        }
      }
    });

    test('an insufficient role is an error result, and is checked before the schema', async () => {
      const answer = await call(house().people.reviewer.key, 'create_folder', { id: house().projectId, odd: 1 });
      expect(problemOfTool(answer, 'INSUFFICIENT_ROLE')).toMatchObject({ status: 403, instance: '/mcp' });
    });

    test.each([
      ['a missing id', 'create_folder', { name: 'A' }, '/id', 'REQUIRED'],
      ['an unknown argument of a tool with a body', 'create_folder', { name: 'A', odd: 1 }, '/odd', 'UNKNOWN_FIELD'],
      ['an unknown argument of a tool without one', 'whoami', { odd: 1 }, '/odd', 'UNKNOWN_FIELD'],
      ['a query that is out of bounds', 'list_project_versions', { page: 101 }, '/page', 'TOO_LARGE'],
      ['a model of another type', 'generate_file', { ...FILM, outputType: 'IMAGE' }, '/outputModel', undefined],
      [
        'settings outside the model',
        'generate_file',
        { ...FILM, configs: { durationSeconds: 90 } },
        '/configs/durationSeconds',
        undefined,
      ],
      ['an empty comment', 'create_project_comment', { content: '' }, '/content', 'EMPTY_COMMENT'],
      ['both cursors', 'list_projects', { next: 'a', prev: 'b' }, '/prev', 'BOTH_CURSORS'],
    ])('%s is refused with the rules of the route', async (what, name, given, pointer, code) => {
      const takesId = !['whoami', 'list_projects'].includes(name) && what !== 'a missing id';
      const answer = await asOwner(name, { ...(takesId && { id: house().projectId }), ...given });
      const { errors } = problemOfTool(answer, 'INVALID_REQUEST');
      expect(errors).toEqual([expect.objectContaining({ pointer, ...(code !== undefined && { code }) })]);
    });

    test('references and states are checked as by the route', async () => {
      const { owner } = house().people;
      const { data: project } = await owner.client.projects.create({ body: { name: 'Ending' } });
      const parent = { id: 'DX00000000000000000000' };
      const missing = await asOwner('create_folder', { id: project.id, name: 'A', parent });
      expect(problemOfTool(missing, 'REFERENCE_NOT_FOUND').errors).toMatchObject([{ pointer: '/parent/id' }]);
      await owner.client.projects.delete({ params: { id: project.id } });
      problemOfTool(await asOwner('create_folder', { id: project.id, name: 'A' }), 'PROJECT_DELETING');
    });

    test('cancel_generation ends a generation once', async () => {
      const given = { id: house().projectId, ...PAGE };
      const { id } = dataOf(await asOwner('generate_file', given), Id);
      expect(await asOwner('cancel_generation', { id })).toEqual({ content: [{ type: 'text', text: 'Done.' }] });
      problemOfTool(await asOwner('cancel_generation', { id }), 'FILE_NOT_CANCELABLE');
    });
  });
}, NO_LIMITS);
