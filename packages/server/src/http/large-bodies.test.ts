import { type Problem, Problem as ProblemSchema } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { newId } from '../db/ids.ts';
import { completePath, start } from '../rooms/uploads/test/uploads.ts';
import { json, onEachDatabase } from '../test/house.ts';
import { problemIn } from '../test/problem-in.ts';
import { FORMER } from '../tools/test/clients.ts';
import { currentRequest, formerRequest, messageIn, post, refusedAs } from '../tools/test/wire.ts';

/** Far above the time of these requests; without the limits, some took longer than a minute. */
const SECONDS = 5;
const MEBIBYTE = 1024 * 1024;

const many = (item: string, count: number) => `[${`${item},`.repeat(count - 1)}${item}]`;
const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`field${n}`, n]));

/** Expects a fast and short response with at most 100 errors. */
async function promptly(answer: Promise<Response>, code: Problem['code'], read = problemIn): Promise<Problem> {
  const started = performance.now();
  const response = await answer;
  const size = (await response.clone().arrayBuffer()).byteLength;
  const problem = await read(response, code);
  expect(size).toBeLessThan(100_000);
  expect(problem.errors?.length ?? 0).toBeLessThanOrEqual(100);
  expect(performance.now() - started).toBeLessThan(SECONDS * 1000);
  return problem;
}

onEachDatabase(
  (house) => {
    const send = (method: string, path: string, body: string) =>
      house().request('owner', method, path, { body, headers: { 'content-type': 'application/json' } });

    describe('the parts of an upload', () => {
      const complete = async (parts: string) => {
        const { id } = await start(house().people.owner.client, 'FX', house().projectId);
        return send('POST', completePath('FX', id), `{"parts":${parts}}`);
      };

      test.each([
        ['two million zeros', many('0', 2_000_000)],
        ['1.39 million empty objects', many('{}', 1_390_000)],
      ])('%s are refused without being parsed', async (_, parts) => {
        expect(parts.length).toBeLessThan(4 * MEBIBYTE);
        const problem = await promptly(complete(parts), 'BODY_TOO_LARGE');
        expect(problem.detail).toBe('At most 150000 JSON values.');
      });

      test('more than ten thousand are one error', async () => {
        const problem = await promptly(complete(many('{}', 100_000)), 'INVALID_REQUEST');
        expect(problem.errors).toEqual([{ pointer: '/parts', code: 'TOO_MANY', message: 'At most 10000.' }]);
      });

      test('the first hundred errors of ten thousand invalid parts are listed', async () => {
        const problem = await promptly(complete(many('{}', 10_000)), 'INVALID_REQUEST');
        expect(problem.detail).toBe('More than 100 fields are not valid. The first 100 are listed.');
        expect(problem.errors).toHaveLength(100);
        expect(problem.errors?.[0]).toMatchObject({ pointer: '/parts/0/partNumber', code: 'REQUIRED' });
      });
    });

    test('the first hundred of fifty thousand unknown fields are listed', async () => {
      const path = `/api/projects/${house().projectId}/folders`;
      const body = JSON.stringify({ name: 'A', ...fields(50_000) });
      const problem = await promptly(send('POST', path, body), 'INVALID_REQUEST');
      expect(problem.errors).toHaveLength(100);
      const long = await promptly(send('POST', path, `{"name":"A","${'x'.repeat(900_000)}":1}`), 'INVALID_REQUEST');
      expect(long.errors).toMatchObject([{ pointer: expect.stringMatching(/^\/x{499}…$/), code: 'UNKNOWN_FIELD' }]);
    });

    test('the first hundred of a thousand missing files are listed', async () => {
      const files = Array.from({ length: 1000 }, () => ({ id: newId('FX') }));
      const answer = house().request(
        'owner',
        'POST',
        `/api/projects/${house().projectId}/versions`,
        json({ name: 'A', files }),
      );
      const problem = await promptly(answer, 'REFERENCE_NOT_FOUND');
      expect(problem.errors).toHaveLength(100);
      expect(problem.detail).toMatch(/ The first 100 are listed\.$/);
    });

    test('a skill with more than 50 metadata fields or 100 tools gets one error each', async () => {
      const create = (body: unknown) => send('POST', '/api/skills', JSON.stringify(body));
      const skill = { name: 'A', description: 'A' };
      const metadata = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']));
      const tools = (count: number) => Array.from({ length: count }, () => 'Read');
      const whole = { ...skill, metadata: metadata(50), allowedTools: tools(100) };
      expect((await create(whole)).status).toBe(201);
      const over = { ...skill, metadata: metadata(20_000), allowedTools: tools(50_000) };
      const problem = await promptly(create(over), 'INVALID_REQUEST');
      expect(problem.errors).toEqual([
        { pointer: '/metadata', code: 'TOO_MANY', message: 'At most 50.' },
        { pointer: '/allowedTools', code: 'TOO_MANY', message: 'At most 100.' },
      ]);
    });

    test('a tool call lists at most a hundred errors too', async () => {
      const { key } = house().people.owner;
      const call = (name: string, given: object) =>
        post(house(), key, currentRequest('tools/call', { name, arguments: { id: house().projectId, ...given } }));
      const Result = z.object({ _meta: z.object({ 'review/problem': ProblemSchema }) });
      const refused = async (name: string, given: object) =>
        Result.parse((await messageIn(await call(name, given))).result)._meta['review/problem'];
      const unknown = await refused('create_folder', { name: 'A', ...fields(50_000) });
      expect(unknown.errors).toHaveLength(100);
      expect(unknown.detail).toBe('More than 100 fields are not valid. The first 100 are listed.');
      const members = Array.from({ length: 50_000 }, () => 0);
      const tooMany = await refused('add_project_members', { members });
      expect(tooMany.errors).toMatchObject([{ pointer: '/members', code: 'TOO_MANY' }]);
    });

    test('a request to the tools contains at most a hundred messages', async () => {
      const { key } = house().people.owner;
      const batch = (count: number) =>
        json(
          Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })),
          { accept: 'application/json, text/event-stream' },
        );
      expect((await post(house(), key, batch(100))).status).toBe(200);
      const problem = await promptly(post(house(), key, batch(101)), 'INVALID_REQUEST', refusedAs);
      expect(problem.detail).toBe('A request may contain at most 100 messages.');
    });

    test('a message contains at most a thousand values beside the arguments of a tool', async () => {
      const { key } = house().people.owner;
      const zeros = Array.from({ length: 100_000 }, () => 0);
      const clientInfo = { name: 'A', version: '1', icons: zeros };
      for (const [method, params] of [
        ['initialize', { protocolVersion: FORMER, capabilities: {}, clientInfo }],
        ['prompts/get', { name: 'A', arguments: { ...zeros } }],
        ['tools/call', { name: 'whoami', arguments: {}, _meta: { zeros } }],
      ] as const) {
        const problem = await promptly(post(house(), key, formerRequest(method, params)), 'INVALID_REQUEST', refusedAs);
        expect(problem.detail).toBe('A message may contain at most 1000 values beside the arguments.');
      }
    });
  },
  { RATE_LIMITS: 'off' },
);
