import { z } from 'zod';

/** Every problem (RFC 9457) that the service answers with. `GET /problems/:name` shows the explanation. */
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
      'The request breaks a rule of the API. `errors` names each field by a JSON Pointer and says what it accepts.',
  },
  INVALID_CURSOR: {
    status: 400,
    title: 'The cursor is not valid',
    explanation:
      'A cursor must be sent unchanged, with the filters and the order of the list that returned it. Start again without a cursor.',
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
    title: 'The host or the origin is not allowed',
    explanation:
      'The tools accept only requests with a host name of this service and, from web pages, with an allowed origin. This protects users from pages that call the tools through their browser. The operator can allow more with MCP_HOSTS and CORS_ORIGINS.',
  },
  NOT_FOUND: {
    status: 404,
    title: 'Not found',
    explanation:
      'The address or the record does not exist, or you cannot see it. The answer is the same in both cases.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'The method is not allowed here',
    explanation: 'The address exists, but does not support this method. `Allow` lists the supported methods.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'The request did not arrive in time',
    explanation: 'The headers or the body of the request stalled or arrived too slowly. Send the request again.',
  },
  REACTION_EXISTS: {
    status: 409,
    title: 'You have already added this emoji',
    explanation: 'A user can add the same emoji to a comment only once.',
  },
  MEMBER_EXISTS: {
    status: 409,
    title: 'Already a member',
    explanation: 'At least one of the users is already a member of the project. No member was added.',
  },
  LAST_OWNER: {
    status: 409,
    title: 'A project needs an owner',
    explanation:
      'The last owner of a project can be neither removed nor given another role. Make another member an owner first.',
  },
  FOLDER_NOT_EMPTY: {
    status: 409,
    title: 'The folder is not empty',
    explanation: 'Only an empty folder can be deleted. Move or delete its files and folders first.',
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
      'Another PUT of the same part started before this one ended, and replaces it. Send only one request per part at a time.',
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
  FRAME_RATE_UNKNOWN: {
    status: 409,
    title: 'The frame rate of the file is not known',
    explanation:
      'The format counts frames, and the file is no video, or its media is not read yet. Wait until its media is READY, or choose the format csv.',
  },
  PROJECT_DELETING: {
    status: 409,
    title: 'The project is being deleted',
    explanation:
      'The project is scheduled for deletion and can only be read. An owner can undo it with `delete.cancel`.',
  },
  WEBHOOK_LIMIT: {
    status: 409,
    title: 'The project has the maximum of webhooks',
    explanation: 'A project can have at most 20 webhooks. Delete one that is no longer used.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    title: 'The first request is still running',
    explanation:
      'A request with this Idempotency-Key is still being processed. Send it again after `Retry-After` seconds to get its answer.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    title: 'The precondition failed',
    explanation:
      'The record or object has changed since the state that `If-Match` or `If-Unmodified-Since` names. Nothing was changed. Read it again.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    title: 'The body is too large',
    explanation: 'The request body exceeds the limit of this operation.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'The content type is not supported',
    explanation: 'Send the body as `application/json`, encoded as UTF-8.',
  },
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    title: 'The range lies outside the content',
    explanation: 'The `Range` starts after the last byte. `Content-Range` names the size of the content.',
  },
  REFERENCE_NOT_FOUND: {
    status: 422,
    title: 'A referenced record does not exist',
    explanation:
      'An id in the body is well formed, but names no record that you can see here. `errors` names the field.',
  },
  ATTACHMENT_NOT_READY: {
    status: 422,
    title: 'An attachment is not uploaded yet',
    explanation: 'Complete the upload before you use the attachment.',
  },
  ATTACHMENT_USED: {
    status: 422,
    title: 'An attachment is already used',
    explanation: 'A comment attachment belongs to one comment only. Upload it again.',
  },
  PARENT_NOT_TOP_LEVEL: {
    status: 422,
    title: 'Replies attach to a top-level comment',
    explanation: 'The parent is itself a reply. Send the id of the comment that started the thread.',
  },
  PARTS_MISMATCH: {
    status: 422,
    title: 'The parts do not match the upload',
    explanation: 'Send every part once, with the ETag that its upload returned.',
  },
  MODEL_NOT_AVAILABLE: {
    status: 422,
    title: 'The model is not available on this host',
    explanation:
      'This service has no key for the provider of this model, and the sandbox is turned off. The operator can set the key.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    title: 'The Idempotency-Key was used for another request',
    explanation: 'A key identifies one request. Use a new key for another body.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    title: 'The headers are too large',
    explanation: 'The request line and the headers may have at most 16 KiB in total.',
  },
  RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    explanation: 'The rate limit of this operation is used up. Retry after `Retry-After` seconds.',
  },
  GENERATION_QUEUE_FULL: {
    status: 429,
    title: 'Too many generations are waiting',
    explanation: 'The workspace has the maximum of waiting generations. Try again when some have finished.',
  },
  INTERNAL: {
    status: 500,
    title: 'Internal error',
    explanation:
      'The service failed, and logged the error under the request id. Try again; if it fails again, send the request id to the operator.',
  },
  NOT_READY: {
    status: 503,
    title: 'The service is not ready',
    explanation: 'The service, its database or its storage is not available right now. Try again shortly.',
  },
  STORAGE_FULL: {
    status: 507,
    title: 'The storage is full',
    explanation: 'The storage has no space for the upload. The operator must free some.',
  },
} as const satisfies Record<string, { status: number; title: string; explanation: string }>;

export type ProblemCode = keyof typeof PROBLEMS;
export const ProblemCode = z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]);

export const FieldError = z
  .object({
    /** A JSON Pointer into the body, or `#query/<name>`. */
    pointer: z.string(),
    code: z.string(),
    message: z.string(),
  })
  .meta({ id: 'FieldError' });
export type FieldError = z.infer<typeof FieldError>;

export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: ProblemCode,
    detail: z.string(),
    instance: z.string(),
    requestId: z.string(),
    /** At most `MAX_FIELD_ERRORS`; `detail` says if there are more. */
    errors: z.array(FieldError).optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof Problem>;

/** Returns the path of the page that explains a problem: `/problems/invalid-request` for `INVALID_REQUEST`. */
export const problemType = (code: ProblemCode) => `/problems/${code.toLowerCase().replaceAll('_', '-')}`;

type Issue = z.core.$ZodIssue;

/** The maximum of field errors in a problem. */
export const MAX_FIELD_ERRORS = 100;

/**
 * Yields the issues that zod found in `input` as field errors; `prefix` is empty for the body and `#query` for the query.
 * A generator, because a body can have far more unknown fields than a problem lists.
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
        yield { pointer: unknown, code: 'UNKNOWN_FIELD', message: 'This field does not exist.' };
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

/** Pointers contain field names of the caller, which are unbounded. */
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
/** A parameter that occurs twice in a query string is an array. */
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
