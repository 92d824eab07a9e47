import {
  type FieldError,
  MAX_FIELD_ERRORS,
  PROBLEMS,
  type Problem,
  type ProblemCode,
  problemType,
} from '@review/contract';

interface Particulars {
  detail?: string;
  errors?: FieldError[];
  headers?: Record<string, string>;
}

/** A refusal: thrown anywhere, turned into an answer in one place. */
export class ProblemError extends Error {
  override name = 'ProblemError';
  readonly code: ProblemCode;
  readonly errors: FieldError[] | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ProblemCode, particulars: Particulars = {}) {
    const { detail = PROBLEMS[code].explanation, errors } = particulars;
    const isCut = errors !== undefined && errors.length > MAX_FIELD_ERRORS;
    super(isCut ? `${detail} The first ${MAX_FIELD_ERRORS} are listed.` : detail);
    this.code = code;
    this.errors = errors?.slice(0, MAX_FIELD_ERRORS);
    this.headers = particulars.headers ?? {};
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

/** A well-formed id in the body that names nothing visible here. */
export const referenceNotFound = (...pointers: string[]): ProblemError =>
  new ProblemError('REFERENCE_NOT_FOUND', {
    errors: pointers.map((pointer) => ({
      pointer,
      code: 'REFERENCE_NOT_FOUND',
      message: 'There is no such thing here, or it is not visible to you.',
    })),
  });
