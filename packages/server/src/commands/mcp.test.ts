import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FormerStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { contractTools } from '@review/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { freePort } from '../../../../scripts/free-port.ts';
import { type House, openHouse } from '../test/house.ts';
import { review } from '../test/review.ts';
import { runProgram } from '../test/server-process.ts';

const ABOUT = { name: 'test', version: '1.0.0' };
const COMMAND = fileURLToPath(new URL('../../dist/commands/main.js', import.meta.url));

let house: House & AsyncDisposable;
beforeAll(async () => {
  house = await openHouse('sqlite');
});
afterAll(() => house[Symbol.asyncDispose]());

/** Starts the command with arguments and settings, as a desktop client does. */
const command = (token: string, url = house.url) => ({
  command: process.execPath,
  args: [COMMAND, 'mcp'],
  env: { REVIEW_URL: url, REVIEW_TOKEN: token },
  stderr: 'pipe' as const,
});
const Text = z.object({ content: z.array(z.object({ text: z.string().startsWith('{"data":') })) });
const Folder = z.object({ structuredContent: z.object({ data: z.object({ id: z.string() }) }) });

test('a client of the current specification lists and calls the tools, and reads a resource', async () => {
  const client = new Client(ABOUT, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StdioClientTransport(command(house.people.owner.key)));
  expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  expect((await client.listTools()).tools).toHaveLength(contractTools().length);
  const made = await client.callTool({ name: 'create_folder', arguments: { id: house.projectId, name: 'Übersicht' } });
  expect(Folder.parse(made).structuredContent.data.id).toMatch(/^DX/);
  await expect(client.readResource({ uri: 'review://files/ü' })).rejects.toThrow(/not found/i);
  await client.close();
});

test('a client of 2025-11-25 does too, with several concurrent calls', async () => {
  const client = new FormerClient(ABOUT);
  await client.connect(new FormerStdio(command(house.people.owner.key)));
  expect((await client.listTools()).tools).toHaveLength(contractTools().length);
  const names = Array.from({ length: 20 }, (_, number) => `Folder ${number}`);
  const made = await Promise.all(
    names.map((name) => client.callTool({ name: 'create_folder', arguments: { id: house.projectId, name } })),
  );
  expect(new Set(made.map((answer) => Text.parse(answer).content[0]?.text)).size).toBe(20);
  await client.close();
});

test('an HTTP refusal of the server becomes an error with its reason', async () => {
  const { key } = await house.withScopes('owner', []);
  const client = new FormerClient(ABOUT);
  await client.connect(new FormerStdio(command(key)));
  await expect(client.callTool({ name: 'list_skills', arguments: {} })).rejects.toThrow(/lacks a scope.*skills:read/);
  await client.close();
  const stranger = new FormerClient(ABOUT);
  await expect(stranger.connect(new FormerStdio(command('nonsense')))).rejects.toThrow(/credential is not valid/);
  const nowhere = new FormerClient(ABOUT);
  const address = `http://127.0.0.1:${await freePort()}`;
  await expect(nowhere.connect(new FormerStdio(command(key, address)))).rejects.toThrow(/cannot be reached/);
});

test('a canceled call is canceled on the server too', async () => {
  const { id } = (
    await house.people.owner.client.generation.generate({
      params: { id: house.projectId },
      body: { outputType: 'DOCUMENT', outputModel: 'markdown', prompt: 'x', folder: null, attachments: [] },
    })
  ).data;
  const client = new FormerClient(ABOUT);
  await client.connect(new FormerStdio(command(house.people.owner.key)));
  const stop = new AbortController();
  const waiting = client.callTool({ name: 'get_file', arguments: { id, wait: 60 } }, undefined, {
    signal: stop.signal,
  });
  stop.abort('enough');
  await expect(waiting).rejects.toThrow();
  expect((await client.callTool({ name: 'whoami', arguments: {} })).isError).toBeUndefined();
  await client.close();
});

test('only protocol messages are written to the output, and the end of the input ends the command', async () => {
  const settings = { REVIEW_URL: house.url, REVIEW_TOKEN: house.people.owner.key };
  await using silent = runProgram('commands/main.js', settings, ['mcp']);
  expect(await silent.finished).toEqual({ code: 0, output: '', errors: '' });
});

test('a missing token or an invalid address is an error message', async () => {
  const missing = await review({}, 'mcp');
  expect([missing.code, missing.output, missing.errors]).toEqual([
    1,
    '',
    '--token: write an API key, or set REVIEW_TOKEN\n',
  ]);
  const wrong = await review({ REVIEW_TOKEN: 'x' }, 'mcp', '--url', 'nonsense');
  expect([wrong.code, wrong.errors]).toEqual([1, '--url: write an address such as https://review.example.com\n']);
});
