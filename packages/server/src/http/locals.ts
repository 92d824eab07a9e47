import type { Caller } from '../request/caller.ts';
import type { VisibleSubject } from '../rooms/subjects.ts';

declare global {
  namespace Express {
    /** Set by the middleware. */
    interface Locals {
      requestId?: string;
      /** The room and verb of the contract, for logs and metrics. */
      operation?: string;
      /** Set once the caller is allowed to call the operation on what `:id` names. */
      admitted?: { caller: Caller; subject: VisibleSubject | null };
    }
  }
}
