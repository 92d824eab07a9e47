import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';
import { chain } from './chain.ts';

// Not imported, as in listen.ts.
const http = process.getBuiltinModule('node:http');

/** Answers the requests of a server. */
export interface Listener {
  (request: IncomingMessage, response: ServerResponse): void;
  /** The classes of its messages. Without them, Express makes its own of each message, which slows down all later code. */
  messages?: Messages;
}

interface Messages {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
}

/**
 * Runs the steps for each request, then the app for what they pass on. The steps get requests and responses as Express makes
 * them, but without its router, which costs as much as the work of a small request.
 */
export function runDirectly(steps: RequestHandler[], app: Express, onError: ErrorRequestHandler): Listener {
  const messages = messagesOf(app);
  const run = chain([...steps, app]);
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    if (!isRequest(request, messages) || !isResponse(response, messages))
      throw new Error('The server was not created with the classes of its listener.');
    request.res = response;
    const fail = (error?: unknown) => onError(error, request, response, () => response.destroy());
    try {
      run(request, response, fail);
    } catch (error) {
      fail(error);
    }
  };
  return Object.assign(listener, { messages });
}

/** The classes of messages that have the methods of Express from the start. */
function messagesOf(app: Express): Messages {
  class AppRequest extends http.IncomingMessage {}
  class AppResponse<R extends IncomingMessage> extends http.ServerResponse<R> {
    locals: Express.Locals = {};

    /** The route has set the headers: Express would look for a charset, an ETag and a fresh copy of the client. */
    send(body: string | Uint8Array): void {
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
