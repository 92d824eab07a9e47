import { z } from 'zod';

/** Every way a request can be refused, as RFC 9457 problem details; `GET /problems/:name` shows the explanation. */
export const PROBLEMS = {
  INVALID_JSON: {
    status: 400,
    title: 'The body is not valid JSON',
    explanation: 'The request body could not be parsed. Send one JSON value encoded as UTF-8.',
  },
  INVALID_REQUEST: {
    status: 400,
    title: 'The request is not valid',
    explanation:
      'The request breaks a rule that can be checked without looking anything up. `errors` names each field by a JSON Pointer and says what it takes.',
  },
  INVALID_CURSOR: {
    status: 400,
    title: 'The cursor is not valid',
    explanation:
      'A cursor is used unchanged, and only with the filters and the order of the list that gave it. Start again without a cursor.',
  },
  MISSING_CREDENTIAL: {
    status: 401,
    title: 'A credential is required',
    explanation: 'Send `Authorization: Bearer <token>` with an API key or an OAuth access token.',
  },
  INVALID_CREDENTIAL: {
    status: 401,
    title: 'The credential is not valid',
    explanation: 'The token is unknown, mistyped or revoked. Ask the operator of this service for a new one.',
  },
  EXPIRED_CREDENTIAL: {
    status: 401,
    title: 'The credential has expired',
    explanation: 'The token was valid and its time has passed. Ask the operator of this service for a new one.',
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    title: 'The credential lacks a scope',
    explanation:
      'The credential is valid but holds none of the scopes this operation needs. `WWW-Authenticate` names them.',
  },
  INSUFFICIENT_ROLE: {
    status: 403,
    title: 'Your role does not allow this',
    explanation:
      'You can see this, but your role in the project does not allow the operation. A project owner or manager can change your role.',
  },
  INVALID_SIGNATURE: {
    status: 403,
    title: 'The signed URL is not valid',
    explanation: 'The URL was altered or its time has passed. Ask the API for a new one.',
  },
  ADDRESS_NOT_ALLOWED: {
    status: 403,
    title: 'The request came by an address that is not ours',
    explanation:
      'The tools answer only under a host name of this service, and to web pages only of origins that are allowed: a page elsewhere must not reach them through a browser. The operator can allow more with MCP_HOSTS and CORS_ORIGINS.',
  },
  NOT_FOUND: {
    status: 404,
    title: 'Not found',
    explanation: 'There is nothing here, or it is not visible to you: the answer is the same for both.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'The method is not allowed here',
    explanation: 'The address exists, but not for this method. `Allow` lists those it takes.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'The request did not arrive in time',
    explanation:
      'The bytes of the request stopped coming, or came too slowly, before its headers or its body were complete. Send the request again.',
  },
  REACTION_EXISTS: {
    status: 409,
    title: 'You have already added this emoji',
    explanation: 'A user can add the same emoji to a comment only once.',
  },
  MEMBER_EXISTS: {
    status: 409,
    title: 'Already a member',
    explanation: 'At least one of the users is a member of the project already; nobody was added.',
  },
  LAST_OWNER: {
    status: 409,
    title: 'A project needs an owner',
    explanation:
      'The last owner of a project can be neither removed nor given another role. Make somebody else an owner first.',
  },
  FOLDER_NOT_EMPTY: {
    status: 409,
    title: 'The folder is not empty',
    explanation: 'Only an empty folder can be deleted. Move or delete what it holds first.',
  },
  FOLDER_CYCLE: {
    status: 409,
    title: 'A folder cannot be inside itself',
    explanation: 'The new parent is the folder itself or lies inside it.',
  },
  DEFAULT_VERSION: {
    status: 409,
    title: 'The default version cannot be deleted',
    explanation: 'Make another version of the skill the default first.',
  },
  UPLOAD_COMPLETED: {
    status: 409,
    title: 'The upload is already complete',
    explanation: 'The upload was completed with other parts, or can no longer be changed.',
  },
  PART_REPLACED: {
    status: 409,
    title: 'A newer request replaced this one',
    explanation:
      'Another PUT of the same part began before this one ended, and its bytes count. Send each part by one request at a time.',
  },
  FILE_NOT_CANCELABLE: {
    status: 409,
    title: 'The file can no longer be canceled',
    explanation: 'The file has already reached its final state.',
  },
  FILE_NOT_READY: {
    status: 409,
    title: 'The file is not ready',
    explanation: 'The file has no content yet. Wait until its status is UPLOADED.',
  },
  PROJECT_DELETING: {
    status: 409,
    title: 'The project is being deleted',
    explanation:
      'The project is scheduled for deletion and can only be read. An owner can undo it with `delete.cancel`.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    title: 'The first request is still running',
    explanation:
      'A request with this Idempotency-Key is being worked on. Send it again after `Retry-After` seconds to get its answer.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    title: 'The precondition does not hold',
    explanation:
      'The record or object no longer fits the `If-Match` or `If-Unmodified-Since` of the request; nothing was changed. Read it again.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    title: 'The body is too large',
    explanation: 'The request body is larger than this operation takes.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'The content type is not supported',
    explanation: 'Send the body as `application/json`, encoded as UTF-8.',
  },
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    title: 'The range lies outside the content',
    explanation: 'The `Range` begins behind the last byte. `Content-Range` says how many bytes there are.',
  },
  REFERENCE_NOT_FOUND: {
    status: 422,
    title: 'Something the request names does not exist',
    explanation:
      'An id in the body is well formed, but names nothing that is visible to you here. `errors` says which.',
  },
  ATTACHMENT_NOT_READY: {
    status: 422,
    title: 'An attachment is not uploaded yet',
    explanation: 'Complete the upload before the attachment is used.',
  },
  ATTACHMENT_USED: {
    status: 422,
    title: 'An attachment is used already',
    explanation: 'A comment attachment belongs to one comment only. Upload it again.',
  },
  PARENT_NOT_TOP_LEVEL: {
    status: 422,
    title: 'Replies attach to a top-level comment',
    explanation: 'The parent is itself a reply. Name the comment that started the thread.',
  },
  PARTS_MISMATCH: {
    status: 422,
    title: 'The parts do not match the upload',
    explanation: 'Every part must be named once, with the ETag its upload answered.',
  },
  MODEL_NOT_AVAILABLE: {
    status: 422,
    title: 'The model is not available on this host',
    explanation:
      'The provider of this model has no key here and the sandbox provider is turned off. The operator can set the key.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    title: 'The Idempotency-Key was used for another request',
    explanation: 'A key stands for one request. Use a new key for another body.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    title: 'The headers are too large',
    explanation: 'The request line and the headers together may have 16 KiB.',
  },
  RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    explanation: 'The limit of this operation is used up for now. `Retry-After` says when to come back.',
  },
  GENERATION_QUEUE_FULL: {
    status: 429,
    title: 'Too many generations are waiting',
    explanation:
      'The workspace has as many generations waiting as this host allows. Try again when some have finished.',
  },
  INTERNAL: {
    status: 500,
    title: 'Something went wrong on our side',
    explanation:
      'The failure is recorded under the request id. Trying again may help; if not, tell the operator the request id.',
  },
  NOT_READY: {
    status: 503,
    title: 'The service is not ready',
    explanation: 'The service, its database or its storage is not available right now. Try again shortly.',
  },
  STORAGE_FULL: {
    status: 507,
    title: 'The storage is full',
    explanation: 'There is no room to store the upload. The operator has to make some.',
  },
} as const satisfies Record<string, { status: number; title: string; explanation: string }>;

export type ProblemCode = keyof typeof PROBLEMS;
export const ProblemCode = z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]);

export const FieldError = z.object({
  /** A JSON Pointer into the body, or `#query/<name>`. */
  pointer: z.string(),
  code: z.string(),
  message: z.string(),
});
export type FieldError = z.infer<typeof FieldError>;

export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  code: ProblemCode,
  detail: z.string(),
  instance: z.string(),
  requestId: z.string(),
  /** The first ones, where there are more than `MAX_FIELD_ERRORS`; `detail` says so. */
  errors: z.array(FieldError).optional(),
});
export type Problem = z.infer<typeof Problem>;

/** The page that explains a problem: `INVALID_REQUEST` is at `/problems/invalid-request`. */
export const problemType = (code: ProblemCode) => `/problems/${code.toLowerCase().replaceAll('_', '-')}`;

type Issue = z.core.$ZodIssue;

/** A problem lists no more field errors than this, however many there are. */
export const MAX_FIELD_ERRORS = 100;

/**
 * Yields what zod found in `input` as the field errors of a problem; `prefix` is empty for the body and `#query` for the
 * query. Lazily: a body can hold far more unknown fields than a problem lists.
 */
export function* fieldErrors(
  issues: Iterable<Issue>,
  input: unknown,
  prefix: '' | '#query' = '',
): Generator<FieldError, undefined> {
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) {
        const unknown = pointer(prefix, [...issue.path, key]);
        yield { pointer: unknown, code: 'UNKNOWN_FIELD', message: 'There is no such field.' };
      }
    } else if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      const closest = issue.errors.reduce((best, branch) => (depth(branch) > depth(best) ? branch : best));
      const inner = closest.map((found) => ({ ...found, path: [...issue.path, ...found.path] }));
      yield* fieldErrors(inner, input, prefix);
    } else if (prefix === '#query' && isRepeated(input, issue.path)) {
      yield { pointer: pointer(prefix, issue.path), code: 'REPEATED', message: 'Send this parameter once.' };
    } else {
      yield { pointer: pointer(prefix, issue.path), ...explain(issue, input) };
    }
  }
}

const depth = (issues: readonly Issue[]) => issues.reduce((max, issue) => Math.max(max, issue.path.length), 0);

/** The caller's own field names are in it, and those have no bound. */
const MAX_POINTER = 500;

function pointer(prefix: string, path: readonly PropertyKey[]): string {
  const steps = path.map((step) => String(step).slice(0, MAX_POINTER).replaceAll('~', '~0').replaceAll('/', '~1'));
  const whole = steps.length === 0 ? prefix : `${prefix}/${steps.join('/')}`;
  return whole.length > MAX_POINTER ? `${whole.slice(0, MAX_POINTER)}…` : whole;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return null;
    value = Reflect.get(value, step);
  }
  return value;
}
const isMissing = (input: unknown, path: readonly PropertyKey[]) => valueAt(input, path) === undefined;
/** A parameter that a query string has twice comes as a list. */
const isRepeated = (query: unknown, path: readonly PropertyKey[]) => Array.isArray(valueAt(query, path));

function explain(
  issue: Exclude<Issue, { code: 'unrecognized_keys' }>,
  input: unknown,
): { code: string; message: string } {
  if ((issue.code === 'invalid_type' || issue.code === 'invalid_value') && isMissing(input, issue.path)) {
    return { code: 'REQUIRED', message: 'This field is required.' };
  }
  switch (issue.code) {
    case 'invalid_type':
      return { code: 'INVALID_TYPE', message: `Must be of type ${issue.expected}.` };
    case 'too_small':
      return issue.origin === 'array' || issue.origin === 'set'
        ? { code: 'TOO_FEW', message: `At least ${issue.minimum}.` }
        : issue.origin === 'string'
          ? { code: 'TOO_SHORT', message: `At least ${issue.minimum} characters.` }
          : { code: 'TOO_SMALL', message: `At least ${issue.minimum}.` };
    case 'too_big':
      return issue.origin === 'array' || issue.origin === 'set'
        ? { code: 'TOO_MANY', message: `At most ${issue.maximum}.` }
        : issue.origin === 'string'
          ? { code: 'TOO_LONG', message: `At most ${issue.maximum} characters.` }
          : { code: 'TOO_LARGE', message: `At most ${issue.maximum}.` };
    case 'invalid_value':
      return { code: 'INVALID_VALUE', message: `Must be one of ${issue.values.map(String).join(', ')}.` };
    case 'invalid_format':
      return { code: 'INVALID_FORMAT', message: issue.message };
    case 'custom':
      return {
        code: typeof issue.params?.['code'] === 'string' ? issue.params['code'] : 'INVALID',
        message: issue.message,
      };
    default:
      return { code: 'INVALID', message: issue.message };
  }
}
