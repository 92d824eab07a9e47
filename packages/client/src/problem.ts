import { type FieldError, PROBLEMS, Problem, type ProblemCode } from '@review/contract';

/** A refusal of the service, typed: switch on `code`. */
export class ApiProblem extends Error {
  override name = 'ApiProblem';
  readonly status: number;
  readonly code: ProblemCode;
  readonly errors: readonly FieldError[];
  readonly requestId: string | null;
  /** Seconds to wait before the same request can succeed. */
  readonly retryAfter: number | null;

  constructor(answer: { status: number; body: unknown; headers: Headers }) {
    const problem = Problem.safeParse(answer.body).data;
    super(problem?.detail ?? `The answer has the status ${answer.status} and is not one of the service.`);
    this.status = answer.status;
    this.code = problem?.code ?? closestCode(answer.status);
    this.errors = problem?.errors ?? [];
    this.requestId = problem?.requestId ?? answer.headers.get('x-request-id');
    const retryAfter = Number(answer.headers.get('retry-after') ?? Number.NaN);
    this.retryAfter = Number.isFinite(retryAfter) ? retryAfter : null;
  }
}

/** Whether a body is a refusal of the service itself. */
export const isProblem = (body: unknown): boolean => Problem.safeParse(body).success;

/** A proxy on the way may answer in the service's place, in its own words. */
function closestCode(status: number): ProblemCode {
  const known = Object.entries(PROBLEMS).find(([, problem]) => problem.status === status);
  return known ? (known[0] as ProblemCode) : 'INTERNAL';
}
