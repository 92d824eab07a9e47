import { type Problem as Body, PROBLEMS } from '@review/contract';

// The client imports this file in place of the contract. zod's `Problem` would bring zod into the first load.
export { PROBLEMS };

const isBody = (value: unknown): value is Body =>
  typeof value === 'object' &&
  value !== null &&
  'code' in value &&
  typeof value.code === 'string' &&
  value.code in PROBLEMS &&
  'detail' in value &&
  typeof value.detail === 'string' &&
  'requestId' in value &&
  typeof value.requestId === 'string' &&
  (!('errors' in value) || Array.isArray(value.errors));

export const Problem = {
  safeParse: (value: unknown) => (isBody(value) ? { success: true, data: value } : { success: false }),
};
