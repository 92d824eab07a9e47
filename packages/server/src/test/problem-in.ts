import { PROBLEMS, Problem, type ProblemCode, problemType } from '@review/contract';
import { expect } from 'vitest';

/** Expects the response to be this problem document, and returns it. */
export async function problemIn(response: Response, code: ProblemCode): Promise<Problem> {
  const text = await response.text();
  expect(response.headers.get('content-type'), text).toMatch(/^application\/problem\+json(;|$)/);
  const problem = Problem.parse(JSON.parse(text));
  const { status, title } = PROBLEMS[code];
  expect(problem).toMatchObject({ code, status, title, type: problemType(code) });
  expect(response.status).toBe(status);
  expect(problem.instance).toBe(new URL(response.url).pathname);
  expect(problem.requestId).toBe(response.headers.get('x-request-id'));
  expect(problem.detail).not.toBe('');
  return problem;
}
