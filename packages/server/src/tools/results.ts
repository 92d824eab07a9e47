import type { CallToolResult, McpRequestContext } from '@modelcontextprotocol/server';
import type { Problem } from '@review/contract';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { asProblem } from '../http/error-handler.ts';
import type { ProblemError } from '../request/problem.ts';
import type { ToolRequest } from './run.ts';

export type Era = McpRequestContext['era'];

/**
 * Returns a response as structured content with a summary, or as text for clients of the former specification, many of
 * which read only text. Never as both, because a model would pay for each response twice.
 */
export function toolResult(answer: unknown, era: Era): CallToolResult {
  if (typeof answer !== 'object' || answer === null) return { content: [textOf('Done.')] };
  if (era === 'legacy') return { content: [textOf(JSON.stringify(answer))] };
  return { content: [textOf(summaryOf(answer))], structuredContent: { ...answer } };
}

const textOf = (text: string) => ({ type: 'text' as const, text });

const Listed = z.object({ data: z.array(z.unknown()), page: z.object({ next: z.string().nullable() }).optional() });
const Single = z.object({ data: z.object({ id: z.string() }) });

function summaryOf(answer: object): string {
  const listed = Listed.safeParse(answer).data;
  if (listed) return `${listed.data.length} in structuredContent.data${listed.page?.next ? '; more follow' : ''}.`;
  const id = Single.safeParse(answer).data?.data.id;
  return id === undefined ? 'See structuredContent.' : `${id}: see structuredContent.`;
}

/**
 * Returns a problem as a tool error. Not as structured content, because older clients validate that against the tool's
 * output schema even for errors.
 */
export function failedResult(problem: object): CallToolResult {
  return {
    isError: true,
    content: [textOf(JSON.stringify(problem))],
    _meta: { 'review/problem': problem },
  };
}

/** Maps an error to the problem document that a route would answer with. */
export function problemOf(
  error: unknown,
  { log }: Pick<Deps, 'log'>,
  { response }: ToolRequest,
): { problem: ProblemError; document: object } {
  const problem = asProblem(error);
  const { requestId = '', operation } = response.locals;
  if (problem.status >= 500) log.error({ err: error, requestId, operation }, 'tool failed');
  return { problem, document: problemDocument(problem, requestId) };
}

/** Includes the Retry-After of the problem, because callers of tools do not see headers. */
export function problemDocument(problem: ProblemError, requestId: string): Problem & { retryAfter?: number } {
  const retryAfter = problem.headers['Retry-After'];
  return {
    ...problem.body('/mcp', requestId),
    ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }),
  };
}
