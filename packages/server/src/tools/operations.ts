import { contractTools, type Tool } from '@review/contract';
import { z } from 'zod';
import type { Caller } from '../http/authenticate.ts';
import type { Operation } from '../http/operations.ts';
import { resourceAt } from './resources.ts';

/** The endpoints behind the tools, the tasks and the resources. */
export interface Operations {
  tools: readonly Tool[];
  get(name: string): Operation;
  /** Whether the caller's scopes open an endpoint. */
  opens(name: string, caller: Caller): boolean;
  /** The endpoint that a message would carry out; none where it only asks what there is. */
  behind(message: unknown, caller: Caller): Operation | undefined;
}

/** Read with as little as it takes: a message that is only understood behind the door would pass it unseen. */
const Message = z.object({ method: z.string(), params: z.record(z.string(), z.unknown()).catch({}) });

export function operationsByName(all: readonly Operation[]): Operations {
  const byName = new Map(all.map((operation) => [operation.name, operation]));
  const tools = contractTools();
  const get = (name: string): Operation => {
    const operation = byName.get(name);
    if (operation === undefined) throw new Error(`there is no operation ${name}`);
    return operation;
  };
  const opens = (name: string, caller: Caller) => {
    const { scopes } = get(name).route.metadata;
    return scopes.length === 0 || scopes.some((scope) => caller.scopes.has(scope));
  };
  const nameBehind = (method: string, { name, uri }: Record<string, unknown>, caller: Caller) => {
    switch (method) {
      case 'tools/call':
        return tools.find(({ shown }) => shown.name === name)?.operation;
      case 'tasks/get':
      case 'tasks/update':
        return 'files.get';
      case 'tasks/cancel':
        return 'files.cancel';
      case 'resources/read':
        return resourceAt(String(uri))?.operation;
      case 'resources/list':
        return opens('skills.list', caller) ? 'skills.list' : undefined;
      default:
        return undefined;
    }
  };
  return {
    tools,
    get,
    opens,
    behind(message, caller) {
      const { method = '', params = {} } = Message.safeParse(message).data ?? {};
      const name = nameBehind(method, params, caller);
      return name === undefined ? undefined : get(name);
    },
  };
}
