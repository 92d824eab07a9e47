import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { FileRecord } from '@review/contract';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { finish, held, NO_LIMITS, PICTURE, PNG, storeResult } from '../rooms/generation/test/generations.ts';
import { uploadFile } from '../rooms/uploads/test/uploads.ts';
import { onEachDatabase, type PersonName } from '../test/house.ts';
import { ABOUT } from './test/clients.ts';
import { formerRequest, messageIn, post } from './test/wire.ts';

const Listed = z.object({ resources: z.array(z.object({ uri: z.string() })), nextCursor: z.string().optional() });

onEachDatabase((house) => {
  async function connect(key: string) {
    const client = new Client(ABOUT, { versionNegotiation: { mode: 'auto' } });
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${house().url}/mcp`), { requestInit }));
    return client;
  }
  const read = async (uri: string, key = house().people.owner.key) => {
    const client = await connect(key);
    const [content] = (await client.readResource({ uri }).finally(() => client.close())).contents;
    if (content === undefined || !('text' in content)) throw new Error('there is no text');
    return content;
  };
  const generated = async (bytes?: Uint8Array, asked = {}) => {
    const task = await held(house(), asked);
    await storeResult(house(), task, bytes);
    await finish(house(), task);
    return task.id;
  };
  async function skill(content: string | null) {
    const { client } = house().people.owner;
    const { data } = await client.skills.create({ body: { name: 'Grading', description: 'How we grade' } });
    if (content !== null) await client.skills.publish({ params: { id: data.id }, body: { content } });
    return data.id;
  }

  test('of a file: its record', async () => {
    const id = await generated();
    const { mimeType, text } = await read(`review://files/${id}`);
    expect(mimeType).toBe('application/json');
    expect(FileRecord.parse(JSON.parse(text).data)).toMatchObject({ id, status: 'UPLOADED', size: 7 });
  });

  test('of a Markdown file: its text', async () => {
    const id = await generated(Buffer.from('# Tides\n\nÜber Ebbe und Flut'));
    const content = await read(`review://files/${id}/content`);
    expect(content).toMatchObject({ mimeType: 'text/markdown', text: '# Tides\n\nÜber Ebbe und Flut' });
  });

  test('of any other file, and of a text that is too long: a download link', async () => {
    const picture = await generated(PNG, PICTURE);
    const long = await uploadFile(house(), Buffer.alloc(1024 * 1024 + 1, 'a'), { name: 'long.md' });
    for (const [id, bytes] of [[picture, PNG.length] as const, [long, 1024 * 1024 + 1] as const]) {
      const { mimeType, text } = await read(`review://files/${id}/content`);
      expect(mimeType).toBe('application/json');
      const download = await fetch(JSON.parse(text).data.url);
      expect((await download.arrayBuffer()).byteLength).toBe(bytes);
    }
  });

  test('of a skill: its SKILL.md; it is listed once it has a version', async () => {
    const [published, empty] = [await skill('# Grade\n'), await skill(null)];
    const uri = `review://skills/${published}/SKILL.md`;
    const { mimeType, text } = await read(uri);
    expect([mimeType, text]).toEqual([
      'text/markdown',
      expect.stringMatching(/^---\nname: grading\n[\s\S]*# Grade\n$/),
    ]);
    const client = await connect(house().people.reviewer.key);
    const { resources } = await client.listResources();
    await client.close();
    expect(resources).toContainEqual(expect.objectContaining({ uri, name: 'Grading', mimeType: 'text/markdown' }));
    expect(JSON.stringify(resources)).not.toContain(empty);
    await expect(read(`review://skills/${empty}/SKILL.md`)).rejects.toThrow(/no published version/);
  });

  test('skills are listed page by page', async () => {
    const made: string[] = [];
    for (let count = 0; count < 51; count++) made.push(`review://skills/${await skill('# Grade')}/SKILL.md`);
    const client = await connect(house().people.owner.key);
    const { resources } = await client.listResources();
    await client.close();
    expect(resources.map(({ uri }) => uri).filter((uri) => made.includes(uri))).toEqual(made.reverse());
    // That client fetches all pages; this checks the response to one request.
    const ask = async (params: Record<string, unknown>) =>
      messageIn(await post(house(), house().people.owner.key, formerRequest('resources/list', params)));
    const first = Listed.parse((await ask({})).result);
    const second = Listed.parse((await ask({ cursor: first.nextCursor })).result);
    expect([...first.resources, ...second.resources].slice(0, 51).map(({ uri }) => uri)).toEqual(made);
    expect(first.resources).toHaveLength(50);
    expect((await ask({ cursor: 'altered' })).error).toMatchObject({ code: -32602, data: { code: 'INVALID_CURSOR' } });
  });

  test('are limited to the scopes of the caller', async () => {
    const shown = async (...scopes: Parameters<ReturnType<typeof house>['withScopes']>[1][number][]) => {
      const client = await connect((await house().withScopes('owner', scopes)).key);
      const { resourceTemplates } = await client.listResourceTemplates();
      const { resources } = await client.listResources();
      await client.close();
      return { templates: resourceTemplates.map(({ name }) => name), any: resources.length > 0 };
    };
    await skill('# Grade');
    expect(await shown('projects:read')).toEqual({ templates: [], any: false });
    expect(await shown('files:read')).toEqual({ templates: ['file'], any: false });
    expect(await shown('files:download', 'skills:read')).toEqual({ templates: ['file-content', 'skill'], any: true });
  });

  test('a missing, invisible or unfinished resource is an error with its reason', async () => {
    const id = await generated();
    const refused = (uri: string, person: PersonName = 'owner') =>
      read(uri, house().people[person].key).then(
        () => null,
        (error: unknown) => error,
      );
    for (const uri of [
      'review://files/FX00000000000000000000',
      'review://files/nonsense',
      'review://files/',
      'review://nothing/1',
      'file:///etc/passwd',
      `review://files/${id}/../../secret`,
    ]) {
      expect([uri, await refused(uri)]).toEqual([uri, expect.objectContaining({ code: -32602 })]);
    }
    for (const person of ['stranger', 'foreigner', 'restricted'] as const) {
      for (const uri of [`review://files/${id}`, `review://files/${id}/content`]) {
        expect(await refused(uri, person)).toMatchObject({ code: -32602, data: { code: 'NOT_FOUND' } });
      }
    }
    const { id: unready } = await held(house());
    const waiting = await refused(`review://files/${unready}/content`);
    expect(waiting).toMatchObject({ code: -32602, data: { code: 'FILE_NOT_READY', status: 409 } });
  });
}, NO_LIMITS);
