import { contractTools, type Tool } from '@review/contract';
import { z } from 'zod';
import type { Operation } from '../http/operations.ts';
import type { Caller } from '../request/caller.ts';
import { resourceAt } from './resource-kinds.ts';

/** The operations that tools, tasks and resources call. */
export interface Operations {
  tools: readonly Tool[];
  get(name: string): Operation;
  /** Whether the caller has a scope that the operation accepts. */
  hasScope(name: string, caller: Caller): boolean;
  /** The operation that a message calls; undefined for messages that call none, such as `tools/list`. */
  operationFor(message: unknown, caller: Caller): Operation | undefined;
}

/** Parsed leniently: a message that the guard cannot parse but the protocol can would bypass the guard. */
const Message = z.object({ method: z.string(), params: z.record(z.string(), z.unknown()).catch({}) });

let created: readonly Tool[] | undefined;
/** Created on first use: their JSON schemas take 50 ms. */
const allTools = (): readonly Tool[] => {
  created ??= contractTools();
  return created;
};

export function operationsByName(all: readonly Operation[]): Operations {
  const byName = new Map(all.map((operation) => [operation.name, operation]));
  const get = (name: string): Operation => {
    const operation = byName.get(name);
    if (operation === undefined) throw new Error(`The contract has no operation ${name}.`);
    return operation;
  };
  const hasScope = (name: string, caller: Caller) => {
    const { scopes } = get(name).route.metadata;
    return scopes.length === 0 || scopes.some((scope) => caller.scopes.has(scope));
  };
  const operationNameFor = (method: string, { name, uri }: Record<string, unknown>, caller: Caller) => {
    switch (method) {
      case 'tools/call':
        return allTools().find(({ definition }) => definition.name === name)?.operation;
      case 'tasks/get':
      case 'tasks/update':
        return 'files.get';
      case 'tasks/cancel':
        return 'files.cancel';
      case 'resources/read':
        return resourceAt(String(uri))?.operation;
      case 'resources/list':
        return hasScope('skills.list', caller) ? 'skills.list' : undefined;
      default:
        return undefined;
    }
  };
  return {
    get tools() {
      return allTools();
    },
    get,
    hasScope,
    operationFor(message, caller) {
      const { method = '', params = {} } = Message.safeParse(message).data ?? {};
      const name = operationNameFor(method, params, caller);
      return name === undefined ? undefined : get(name);
    },
  };
}
