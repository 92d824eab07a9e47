import { type AppRoute, ContractNoBody, type ContractOtherResponse, initContract } from '@ts-rest/core';
import { z } from 'zod';
import type { ProjectRole, Scope, Tier } from './access.ts';
import type { EventType } from './event-types.ts';
import type { Subject } from './ids.ts';
import type { ProblemCode } from './problem.ts';

export type { AppRoute };

/** The access rules and rate limits of an endpoint. The server's pipeline enforces them, not the handlers. */
export interface Rules {
  /** The name of the endpoint as an MCP tool. */
  tool?: string;
  tier: Tier;
  /** The credential needs any one of these; an empty list allows every valid credential. */
  scopes: readonly Scope[];
  /** The kind of record that `:id` names. Its visibility is checked before the body is read. */
  subject: Subject | null;
  /** The project roles that may call the endpoint; empty for endpoints outside projects. */
  roles: readonly ProjectRole[];
  /** Limits the endpoint to the person that the record names, in addition to the role. */
  only?: 'starter' | 'author' | 'author-or-lead';
  /** Calls per window from one IP address, across all callers. */
  perAddress?: number;
  /** The path of the created record, with `:id` from the answer; null if no endpoint reads it alone. */
  location?: `/api/${string}/:id` | null;
  /** The answer has an ETag, and `If-None-Match` is supported. */
  conditional?: true;
  /** Supports `If-Match` with the ETag of the record. */
  ifMatch?: true;
  /** Allowed while the project is scheduled for deletion. */
  whileDeleting?: true;
  /** The events that the operation can emit. Without it the operation only reads: its handler gets no `write`. */
  events?: readonly EventType[];
  /** A body larger than the general limit, in bytes. */
  bodyLimit?: number;
  /** Problems in addition to those that `refusalsOf` derives. */
  problems?: readonly ProblemCode[];
}

/** An endpoint of the public API, which has rules, or of the worker API, which has none. */
export type Endpoint = AppRoute & { summary: string; metadata?: Rules };
export type Route = Endpoint & { metadata: Rules };
export type Room = Record<string, Route>;

/** Types the routes of a room, so that a route without rules does not compile. */
export const room = <const R extends Room>(routes: R): R => routes;

/** The HTTP method of RFC 10008. Typed as POST, because ts-rest does not support it. */
export const QUERY = 'QUERY' as 'POST';

/** For 204 answers, and for actions without parameters. */
export const NO_BODY: typeof ContractNoBody = ContractNoBody;

export const data = <Shape extends z.ZodType>(shape: Shape) => z.object({ data: shape });

export const created = <Id extends z.ZodType<string>>(id: Id) => data(z.object({ id }));

/** The content type of server-sent events. */
export const EVENT_STREAM = 'text/event-stream';

/** An answer of server-sent events, each with such an item as its data. */
export interface EventStream<Item extends z.ZodType> extends ContractOtherResponse<Item> {
  contentType: typeof EVENT_STREAM;
}

export const eventStream = <Item extends z.ZodType>(item: Item): EventStream<Item> =>
  Object.assign(initContract().otherResponse({ contentType: EVENT_STREAM, body: item }), {
    contentType: EVENT_STREAM,
  } as const);

/** The content type of a file to save, in the documents; the answer itself has the type of the file. */
export const FILE_CONTENT = 'application/octet-stream';

/** An answer that is a file to save, made while it is sent, with its name in `Content-Disposition`. */
export interface FileAnswer extends ContractOtherResponse<z.ZodString> {
  contentType: typeof FILE_CONTENT;
}

export const fileAnswer = (): FileAnswer =>
  Object.assign(initContract().otherResponse({ contentType: FILE_CONTENT, body: z.string() }), {
    contentType: FILE_CONTENT,
  } as const);

const SUCCESS_STATUSES = [200, 201, 202, 204] as const;
type SuccessStatus = (typeof SUCCESS_STATUSES)[number];

/** The declared response of a route's success. */
export type SuccessOf<R extends AppRoute> = R['responses'][Extract<keyof R['responses'], SuccessStatus>];

export function successStatus(route: Endpoint): SuccessStatus {
  const status = SUCCESS_STATUSES.find((candidate) => candidate in route.responses);
  if (status === undefined) throw new Error(`${route.method} ${route.path} declares no success status`);
  return status;
}
