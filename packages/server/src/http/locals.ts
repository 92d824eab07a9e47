import type { Caller } from '../request/caller.ts';
import type { VisibleSubject } from '../rooms/subjects.ts';

declare global {
  namespace Express {
    /** What the generic steps find out about a request. */
    interface Locals {
      requestId?: string;
      /** The room and verb of the contract, for logs and metrics. */
      operation?: string;
      /** Set once the caller may call the operation on what `:id` names. */
      admitted?: { caller: Caller; subject: VisibleSubject | null };
    }
  }
}
