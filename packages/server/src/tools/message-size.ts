import { ProblemError } from '../request/problem.ts';

const MAX_MESSAGES = 100;
const MAX_VALUES = 1000;

/** The messages of a request; one of the former specification can hold several. */
export function messagesIn(body: unknown): unknown[] {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  if (messages.length > MAX_MESSAGES) throw refusal(`At most ${MAX_MESSAGES} messages in one request.`);
  messages.forEach(requireFewValues);
  return messages;
}

/**
 * The protocol library reports everything that is wrong with a message, however much that is. The arguments of a tool are
 * not counted: it leaves them to the schema of their endpoint.
 */
function requireFewValues(message: unknown): void {
  const found = [message];
  for (let index = 0; index < found.length; index++) {
    const value = found[index];
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'arguments' && isToolCall(message) && value === message.params) continue;
      if (found.push(inner) > MAX_VALUES)
        throw refusal(`A message has at most ${MAX_VALUES} values beside the arguments.`);
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
