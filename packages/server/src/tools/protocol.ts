import { AsyncLocalStorage } from 'node:async_hooks';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Deps } from '../deps.ts';
import type { Operations } from './operations.ts';
import type { ToolRequest } from './run.ts';
import { toolServer } from './server.ts';

/** Answers a message that the guard has let pass. */
export type ToolProtocol = (toolRequest: ToolRequest, body: unknown) => Promise<void>;

export function toolProtocol(deps: Deps, operations: Operations, maxSubscriptions: number): ToolProtocol {
  const toolRequests = new AsyncLocalStorage<ToolRequest>();
  const onerror = (error: Error) => deps.log.debug({ err: error }, 'tool request refused');
  const protocol = createMcpHandler(
    ({ era }) => {
      const toolRequest = toolRequests.getStore();
      if (toolRequest === undefined) throw new Error('The request reached the tools without passing the guard.');
      return toolServer(deps, operations, toolRequest, era);
    },
    { onerror, maxSubscriptions },
  );
  const serve = toNodeHandler(protocol, { onerror });
  return (toolRequest, body) =>
    toolRequests.run(toolRequest, () => serve(toolRequest.request, toolRequest.response, body));
}
