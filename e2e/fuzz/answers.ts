import { Problem } from '@review/contract';
import type { Operation } from './operations.ts';
import type { FuzzedRequest } from './requests.ts';
import { mismatchOf } from './schema.ts';

/** Refusals of the form of a request. */
const FORM = ['INVALID_JSON', 'INVALID_REQUEST', 'UNSUPPORTED_MEDIA_TYPE'];
/** Rules about a field that JSON Schema cannot express. */
const BEYOND_SCHEMA = ['DUPLICATE', 'IN_THE_PAST', 'INVALID_TEXT'];
/** Refusals before the operation is known. */
const TRANSPORT = ['HEADERS_TOO_LARGE'];

/** Returns how an answer differs from what the document says about the operation and the request, or null. */
export async function faultOf(
  { responses }: Operation,
  expected: FuzzedRequest['expected'],
  answer: Response,
): Promise<string | null> {
  const { status } = answer;
  const described = responses[status];
  const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
  if (type === 'text/event-stream') {
    await answer.body?.cancel();
    return described === undefined ? `the status ${status} is not described` : null;
  }
  const text = await answer.text();
  if (status >= 500) return `status ${status}: ${text}`;
  if (status >= 400) {
    const problem = Problem.safeParse(parsed(text));
    if (type !== 'application/problem+json' || !problem.success) return `status ${status} is no problem: ${text}`;
    const { code, errors = [] } = problem.data;
    const isBeyondSchema = errors.length > 0 && errors.every((error) => BEYOND_SCHEMA.includes(error.code));
    if (expected === 'accepted' && FORM.includes(code) && !isBeyondSchema) return `a valid request is refused: ${text}`;
    const codes = described?.$ref?.split('/').at(-1)?.split('.') ?? TRANSPORT;
    return codes.includes(code) ? null : `the problem ${code} is not described: ${text}`;
  }
  if (expected === 'refused') return `an invalid request is accepted with ${status}`;
  if (described === undefined) return `the status ${status} is not described: ${text}`;
  const { content } = described;
  if (content === undefined) return text === '' ? null : `there is a body: ${text}`;
  const schema = content[type]?.schema ?? content['application/octet-stream']?.schema;
  if (schema === undefined) return `the content type ${type} is not described`;
  if (schema.type === 'string') return null;
  const mismatch = mismatchOf(schema, parsed(text));
  return mismatch === null ? null : `${mismatch}: ${text}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
