import {
  type FieldError,
  MAX_FIELD_ERRORS,
  PROBLEMS,
  type Problem,
  type ProblemCode,
  problemType,
} from '@review/contract';

interface ProblemOptions {
  detail?: string;
  errors?: FieldError[];
  headers?: Record<string, string>;
}

/** A failure of a request, answered with a problem document (RFC 9457) by the error handler. */
export class ProblemError extends Error {
  override name = 'ProblemError';
  readonly code: ProblemCode;
  readonly errors: FieldError[] | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    const { detail = PROBLEMS[code].explanation, errors } = options;
    const isCut = errors !== undefined && errors.length > MAX_FIELD_ERRORS;
    super(isCut ? `${detail} The first ${MAX_FIELD_ERRORS} are listed.` : detail);
    this.code = code;
    this.errors = errors?.slice(0, MAX_FIELD_ERRORS);
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  body(instance: string, requestId: string): Problem {
    return {
      type: problemType(this.code),
      title: PROBLEMS[this.code].title,
      status: this.status,
      code: this.code,
      detail: this.message,
      instance,
      requestId,
      ...(this.errors && { errors: this.errors }),
    };
  }
}

/** The problem of well-formed ids in the body that name nothing visible to the caller. */
export const referenceNotFound = (...pointers: string[]): ProblemError =>
  new ProblemError('REFERENCE_NOT_FOUND', {
    errors: pointers.map((pointer) => ({
      pointer,
      code: 'REFERENCE_NOT_FOUND',
      message: 'The id names nothing that exists here and is visible to you.',
    })),
  });
