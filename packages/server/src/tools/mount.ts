import type { Express, Request, Response } from 'express';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { errorHandler } from '../http/error-handler.ts';
import { closeWhenStalled } from '../http/event-stream.ts';
import type { Guard } from '../http/guard.ts';
import type { Operation } from '../http/operations.ts';
import { readJson } from '../http/read-body.ts';
import { ProblemError } from '../request/problem.ts';
import { requireOwnAddress } from './address.ts';
import { messagesIn } from './message-size.ts';
import { operationsByName } from './operations.ts';
import type { ToolProtocol } from './protocol.ts';
import { problemDocument } from './results.ts';

const PATH = '/mcp';
/** The codes of JSON-RPC. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INTERNAL_ERROR = -32603;
/** In the Mcp-Method header. The library refuses a request whose header differs from its body. */
const SUBSCRIBE = 'subscriptions/listen';
/** Subscriptions hold a connection each. */
const MAX_STREAMS = 200;
const MAX_STREAMS_PER_CREDENTIAL = 5;
/** Credentials are cached for another 500 ms. */
const RECHECK_MS = 500;

/**
 * Mounts the MCP endpoint, without sessions. Problems of credential, rate limit and scope are answered with their HTTP
 * status and a JSON-RPC error as the body, because many clients show only that.
 */
export function mountTools(app: Express, deps: Deps, guard: Guard, all: readonly Operation[]): void {
  const { config, stopping } = deps;
  const operations = operationsByName(all);
  let loading: Promise<ToolProtocol> | undefined;
  /** Loads the MCP library on first use: it would be a quarter of the program's code. */
  const loadProtocol = () => {
    loading ??= import('./protocol.ts').then(({ toolProtocol }) => toolProtocol(deps, operations, MAX_STREAMS));
    return loading;
  };
  // Ended when the server stops, which they would delay otherwise.
  const subscriptions = new Map<Response, string>();
  /** Ends the stream within a second after its credential is no longer valid. */
  const endWhenRevoked = (request: Request, response: Response) => {
    const recheck = setInterval(async () => {
      if (!(await guard.isStillValid(request, PATH))) response.end();
    }, RECHECK_MS);
    response.once('close', () => clearInterval(recheck));
  };
  stopping.addEventListener('abort', () => {
    for (const stream of subscriptions.keys()) stream.end();
  });

  app.post(PATH, requireOwnAddress(config), async (request, response) => {
    response.locals.operation = 'tools';
    const caller = await guard.authenticate(request, response, PATH);
    if (!request.is('application/json')) {
      throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', { detail: 'Send the message as application/json.' });
    }
    const body = await readJson(request, config.bodyLimit);
    // The error handler reads the id of the message.
    request.body = body;
    for (const message of messagesIn(body)) {
      const operation = operations.operationFor(message, caller);
      if (operation === undefined) await guard.limiter.count('tools', 'tier-4', caller, response);
      else {
        response.locals.operation = operation.name;
        await guard.check(operation, caller, request, response);
      }
    }
    if (request.get('mcp-method') === SUBSCRIBE) {
      const own = [...subscriptions.values()].filter((credentialId) => credentialId === caller.credentialId);
      if (own.length >= MAX_STREAMS_PER_CREDENTIAL) {
        throw new ProblemError('RATE_LIMITED', {
          detail: `At most ${MAX_STREAMS_PER_CREDENTIAL} streams may be open at once. Close one of them.`,
        });
      }
      // The client left while the call was counted: there is no other event.
      if (response.closed) return;
      subscriptions.set(response, caller.credentialId);
      response.once('close', () => subscriptions.delete(response));
      // The library writes until the connection is closed, which is later than the end if the client has more to read.
      response.on('error', () => {});
      closeWhenStalled(request, response);
      endWhenRevoked(request, response);
    }
    const serve = await loadProtocol();
    await serve({ caller, request, response }, body);
  });
  app.all(PATH, (request, response) => {
    const allow = 'OPTIONS, POST';
    if (request.method !== 'OPTIONS') throw new ProblemError('METHOD_NOT_ALLOWED', { headers: { Allow: allow } });
    response.set('Allow', allow).status(204).end();
  });
  app.use(PATH, errorHandler(deps, asRpcError));
}

const Identified = z.object({ id: z.union([z.string(), z.number()]) });

/** The id is null if the body was not read or contains several messages. */
function asRpcError(problem: ProblemError, request: Request, requestId: string) {
  const id = Identified.safeParse(request.body).data?.id ?? null;
  const data = problemDocument(problem, requestId);
  const message = `${data.title}: ${data.detail}`;
  return { type: 'application/json', body: { jsonrpc: '2.0', id, error: { code: codeOf(problem), message, data } } };
}

function codeOf({ code, status }: ProblemError): number {
  if (code === 'INVALID_JSON') return PARSE_ERROR;
  return status >= 500 ? INTERNAL_ERROR : INVALID_REQUEST;
}
