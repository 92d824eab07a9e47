import { AsyncLocalStorage } from 'node:async_hooks';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type ServerEventBus } from '@modelcontextprotocol/server';
import type { Deps } from '../deps.ts';
import type { Operations } from './operations.ts';
import type { ToolRequest } from './run.ts';
import { toolServer } from './server.ts';
import { type Subscription, subscriptionOpener } from './subscriptions.ts';

/** Answers a message that the guard has let pass. */
export type ToolProtocol = (toolRequest: ToolRequest, body: unknown) => Promise<void>;

interface Current {
  toolRequest: ToolRequest;
  /** Null for messages that subscribe to no resource. */
  subscription: Subscription | null;
}

export function toolProtocol(deps: Deps, operations: Operations, maxSubscriptions: number): ToolProtocol {
  const requests = new AsyncLocalStorage<Current>();
  const openSubscription = subscriptionOpener(deps, operations);
  const onerror = (error: Error) => deps.log.debug({ err: error }, 'tool request refused');
  const current = (): Current => {
    const found = requests.getStore();
    if (found === undefined) throw new Error('The request reached the tools without passing the guard.');
    return found;
  };
  // The library asks the bus for the changes of each stream. They end with the response, so that nothing is left to undo.
  const bus: ServerEventBus = {
    publish() {},
    subscribe(listener) {
      current().subscription?.(listener);
      return () => {};
    },
  };
  const protocol = createMcpHandler(({ era }) => toolServer(deps, operations, current().toolRequest, era), {
    onerror,
    maxSubscriptions,
    bus,
  });
  const serve = toNodeHandler(protocol, { onerror });
  return async (toolRequest, body) => {
    const subscription = await openSubscription(toolRequest, body);
    const { request, response } = toolRequest;
    await requests.run({ toolRequest, subscription }, () => serve(request, response, body));
  };
}
