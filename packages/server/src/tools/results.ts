import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Deps } from '../deps.ts';
import { asProblem } from '../http/error-page.ts';
import type { ProblemError } from '../http/problem.ts';
import type { Visit } from './run.ts';

/** What an endpoint answered, for programs and for models. */
export function toolResult(answer: unknown): CallToolResult {
  if (typeof answer !== 'object' || answer === null) return { content: [{ type: 'text', text: 'Done.' }] };
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: { ...answer } };
}

/**
 * What was refused or failed. Not as structured content: that has to be of the tool's output schema, and older clients
 * hold even an error to it.
 */
export function failedResult(problem: object): CallToolResult {
  return {
    isError: true,
    content: [{ type: 'text', text: JSON.stringify(problem) }],
    _meta: { 'review/problem': problem },
  };
}

/** A failure as the problem document that a route would have answered with. */
export function problemOf(
  error: unknown,
  { log }: Pick<Deps, 'log'>,
  { response }: Visit,
): { problem: ProblemError; document: object } {
  const problem = asProblem(error);
  const { requestId = '', operation } = response.locals;
  if (problem.status >= 500) log.error({ err: error, requestId, operation }, 'a tool failed');
  const retryAfter = problem.headers['Retry-After'];
  return {
    problem,
    document: {
      ...problem.body('/mcp', requestId),
      ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }),
    },
  };
}
