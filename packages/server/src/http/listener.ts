import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';
import type { Deps } from '../deps.ts';
import { chain } from './chain.ts';

// Not imported, as in listen.ts.
const http = process.getBuiltinModule('node:http');

/** Answers the requests of a server. */
export interface Listener {
  (request: IncomingMessage, response: ServerResponse): void;
  /** The classes that the server has to use for its messages. */
  messages?: Messages;
  log?: Pick<Deps['log'], 'warn'>;
}

interface Messages {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
}

/**
 * Runs the steps for each request, then the app for what they pass on. The steps get the requests and responses of Express, but
 * not through its router: docs/decisions/0051-routes-run-before-express.md.
 */
export function createListener(
  steps: RequestHandler[],
  app: Express,
  onError: ErrorRequestHandler,
  { log }: Pick<Deps, 'log'>,
): Listener {
  const messages = messagesOf(app);
  const run = chain([...steps, app]);
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    if (!isRequest(request, messages) || !isResponse(response, messages))
      throw new Error('The server was not created with the classes of its listener.');
    request.res = response;
    const fail = (error?: unknown) => {
      try {
        onError(error, request, response, () => response.destroy());
      } catch (failure) {
        // Nothing else would catch it, and it would end the process.
        log.error({ err: failure }, 'error handler failed');
        response.destroy();
      }
    };
    try {
      run(request, response, fail);
    } catch (error) {
      fail(error);
    }
  };
  return Object.assign(listener, { messages, log });
}

/** Messages with the methods of Express from the start: it would change the prototype of each, which slows down all later code. */
function messagesOf(app: Express): Messages {
  class AppRequest extends http.IncomingMessage {}
  class AppResponse<R extends IncomingMessage> extends http.ServerResponse<R> {
    locals: Express.Locals = {};

    /** Its route has set all headers: Express would parse the type, look for an ETag and compare it with the client's. */
    send(body: string | Uint8Array): void {
      // Node sends the length only with a body.
      if (this.req.method === 'HEAD') this.setHeader('Content-Length', Buffer.byteLength(body));
      this.end(body);
    }
  }
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

const isRequest = (message: IncomingMessage, { IncomingMessage: Class }: Messages): message is Request =>
  message instanceof Class;

const isResponse = (message: ServerResponse, { ServerResponse: Class }: Messages): message is Response =>
  message instanceof Class;
