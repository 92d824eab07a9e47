import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FormerTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Problem, type ProblemCode } from '@review/contract';
import { expect } from 'vitest';
import { z } from 'zod';
import type { House } from '../../test/house.ts';

export const ABOUT = { name: 'test', version: '1.0.0' };
export const CURRENT = '2026-07-28';
export const FORMER = '2025-11-25';

/** The common interface of both clients. */
export interface ToolClient extends AsyncDisposable {
  list(): Promise<string[]>;
  call(name: string, given?: Record<string, unknown>): Promise<ToolAnswer>;
}

const ToolAnswer = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  structuredContent: z.object({ data: z.unknown() }).loose().optional(),
  isError: z.boolean().optional(),
});
export type ToolAnswer = z.infer<typeof ToolAnswer>;

const init = (key: string) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } });

async function currentClient({ url }: House, key: string): Promise<ToolClient> {
  const client = new Client(ABOUT, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), init(key)));
  expect(client.getNegotiatedProtocolVersion()).toBe(CURRENT);
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, given = {}) => ToolAnswer.parse(await client.callTool({ name, arguments: given })),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function formerClient({ url }: House, key: string): Promise<ToolClient> {
  const client = new FormerClient(ABOUT);
  const transport = new FormerTransport(new URL(`${url}/mcp`), init(key));
  await client.connect(transport);
  expect(transport.protocolVersion).toBe(FORMER);
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, given = {}) => ToolAnswer.parse(await client.callTool({ name, arguments: given })),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** The official clients of both specifications. */
export const CLIENTS = { [CURRENT]: currentClient, [FORMER]: formerClient };

/** Expects an error result with this problem, and returns the problem. */
export function problemOfTool({ isError, content, structuredContent }: ToolAnswer, code: ProblemCode): Problem {
  const problem = Problem.parse(JSON.parse(content[0]?.text ?? '{}'));
  expect({ isError, structuredContent, code: problem.code }).toEqual({
    isError: true,
    structuredContent: undefined,
    code,
  });
  return problem;
}

/** Returns the response of a tool's endpoint; the call must succeed. */
export function dataOf<T>({ isError, structuredContent, content }: ToolAnswer, shape: z.ZodType<T>): T {
  expect(isError, content[0]?.text).toBeUndefined();
  // Either structured content or text, never both.
  const whole = structuredContent ?? z.object({ data: z.unknown() }).parse(JSON.parse(content[0]?.text ?? ''));
  return shape.parse(whole.data);
}
