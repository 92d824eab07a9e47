import { type AppRoute, ContractNoBody } from '@ts-rest/core';
import { z } from 'zod';
import type { ProjectRole, Scope, Tier } from './access.ts';
import type { Subject } from './ids.ts';
import type { ProblemCode } from './problem.ts';

/** Who may call an endpoint, and how often: the generic steps of the server obey these, no handler repeats them. */
export interface Rules {
  /** Its name in the tool-calling interface. */
  tool?: string;
  tier: Tier;
  /** Any one of these is enough; none means any valid credential. */
  scopes: readonly Scope[];
  /** What `:id` names; its visibility is settled before the body is read. */
  subject: Subject | null;
  /** The project roles that may call; none where no project is concerned. */
  roles: readonly ProjectRole[];
  /** A person named by the record itself, checked beside the role. */
  only?: 'starter' | 'author' | 'author-or-lead';
  /** Calls in a window from one address, whoever makes them. */
  perAddress?: number;
  /** Where the thing that the answer names can be read: `:id` is the answer's own. Null where nothing reads just that. */
  location?: `/api/${string}/:id` | null;
  /** The answer carries an ETag, and a caller that names it is told that nothing is new. */
  conditional?: true;
  /** Takes `If-Match` with the ETag of the record that is changed. */
  ifMatch?: true;
  /** Works on a project that is scheduled for deletion. */
  whileDeleting?: true;
  /** A body larger than the general limit, in bytes. */
  bodyLimit?: number;
  /** Refusals of its own, beside those that follow from the other rules and the shape of the request. */
  problems?: readonly ProblemCode[];
}

export type Route = AppRoute & { summary: string; metadata: Rules };
export type Room = Record<string, Route>;

/** A room of the contract: a route without rules does not compile. */
export const room = <const R extends Room>(routes: R): R => routes;

/** The HTTP method of RFC 10008, which ts-rest does not know: to its types it is a POST. */
export const QUERY = 'QUERY' as 'POST';

/** No body: 204 answers, and actions without parameters. */
export const NO_BODY: typeof ContractNoBody = ContractNoBody;

export const data = <Shape extends z.ZodType>(shape: Shape) => z.object({ data: shape });

export const created = <Id extends z.ZodType<string>>(id: Id) => data(z.object({ id }));

const SUCCESS_STATUSES = [200, 201, 202, 204] as const;
type SuccessStatus = (typeof SUCCESS_STATUSES)[number];

/** The declared answer of the one way a route succeeds. */
export type SuccessOf<R extends AppRoute> = R['responses'][Extract<keyof R['responses'], SuccessStatus>];

export function successStatus(route: Route): SuccessStatus {
  const status = SUCCESS_STATUSES.find((candidate) => candidate in route.responses);
  if (status === undefined) throw new Error(`${route.method} ${route.path} declares no success`);
  return status;
}
