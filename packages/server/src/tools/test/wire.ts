import { PROBLEMS, Problem, type ProblemCode } from '@review/contract';
import { expect } from 'vitest';
import { z } from 'zod';
import type { House } from '../../test/house.ts';
import { ABOUT, CURRENT, FORMER } from './clients.ts';

const Answer = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  result: z.looseObject({}).optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown() }).partial({ data: true }).optional(),
});
export type Answer = z.infer<typeof Answer>;

export const TASKS = 'io.modelcontextprotocol/tasks';

/** A request of the current specification, whose headers repeat fields of its body. */
export function currentRequest(method: string, params: Record<string, unknown> = {}, capabilities = {}): RequestInit {
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': CURRENT,
    'io.modelcontextprotocol/clientInfo': ABOUT,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  return {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': CURRENT,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  };
}

/** A request of the former specification, without a handshake. */
export const formerRequest = (method: string, params: Record<string, unknown> = {}): RequestInit => ({
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': FORMER,
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
});

export const post = ({ url }: House, key: string | null, init: RequestInit): Promise<Response> =>
  fetch(`${url}/mcp`, {
    method: 'POST',
    ...init,
    headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...init.headers },
  });

/** The only message of a response, as JSON or as an event stream. */
export async function messageIn(response: Response): Promise<Answer> {
  const text = await response.text();
  const stream = response.headers.get('content-type')?.startsWith('text/event-stream');
  const data = stream ? /^data: (\{.*)$/m.exec(text)?.[1] : text;
  return Answer.parse(JSON.parse(data ?? 'null'));
}

/** Expects an HTTP refusal whose body is a JSON-RPC error with this problem, and returns the error. */
export async function refusedAs(response: Response, code: ProblemCode) {
  expect(response.headers.get('content-type')).toMatch(/^application\/json(;|$)/);
  const { id, error } = await messageIn(response);
  const problem = Problem.parse(error?.data);
  expect(problem).toMatchObject({ code, status: PROBLEMS[code].status, instance: '/mcp' });
  expect(problem.requestId).toBe(response.headers.get('x-request-id'));
  expect(response.status).toBe(problem.status);
  expect(error?.message).toBe(`${problem.title}: ${problem.detail}`);
  return { ...problem, id, rpcCode: error?.code };
}
