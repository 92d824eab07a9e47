import { ProblemError } from '../request/problem.ts';

const MAX_MESSAGES = 100;
const MAX_VALUES = 1000;

/** Returns the messages of a request. Only the former specification allows several. */
export function messagesIn(body: unknown): unknown[] {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  if (messages.length > MAX_MESSAGES) throw refusal(`A request may contain at most ${MAX_MESSAGES} messages.`);
  messages.forEach(requireFewValues);
  return messages;
}

/**
 * Limits the size of the protocol library's error reports, which list every invalid value of a message. The arguments of a
 * tool do not count: the schema of their endpoint validates them.
 */
function requireFewValues(message: unknown): void {
  const found = [message];
  for (let index = 0; index < found.length; index++) {
    const value = found[index];
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'arguments' && isToolCall(message) && value === message.params) continue;
      if (found.push(inner) > MAX_VALUES)
        throw refusal(`A message may contain at most ${MAX_VALUES} values beside the arguments.`);
    }
  }
}

const isToolCall = (message: unknown): message is { method: 'tools/call'; params: unknown } =>
  typeof message === 'object' &&
  message !== null &&
  'method' in message &&
  message.method === 'tools/call' &&
  'params' in message;

const refusal = (detail: string) => new ProblemError('INVALID_REQUEST', { detail });
