import { type FieldError, PROBLEMS, Problem, type ProblemCode } from '@review/contract';

/** A problem that the service answered with. Switch on `code`. */
export class ApiProblem extends Error {
  override name = 'ApiProblem';
  readonly status: number;
  readonly code: ProblemCode;
  readonly errors: readonly FieldError[];
  readonly requestId: string | null;
  /** Seconds to wait before a retry; null if the answer does not say. */
  readonly retryAfter: number | null;

  constructor(answer: { status: number; body: unknown; headers: Headers }) {
    const problem = Problem.safeParse(answer.body).data;
    super(
      problem?.detail ??
        `The answer has status ${answer.status} and does not come from the service. A proxy may have sent it.`,
    );
    this.status = answer.status;
    this.code = problem?.code ?? closestCode(answer.status);
    this.errors = problem?.errors ?? [];
    this.requestId = problem?.requestId ?? answer.headers.get('x-request-id');
    const retryAfter = Number(answer.headers.get('retry-after') ?? Number.NaN);
    this.retryAfter = Number.isFinite(retryAfter) ? retryAfter : null;
  }
}

/** Whether a body is a problem document of the service. */
export const isProblem = (body: unknown): boolean => Problem.safeParse(body).success;

/** Returns a problem code with that status, for answers of a proxy without a problem document. */
function closestCode(status: number): ProblemCode {
  const known = Object.entries(PROBLEMS).find(([, problem]) => problem.status === status);
  return known ? (known[0] as ProblemCode) : 'INTERNAL';
}
