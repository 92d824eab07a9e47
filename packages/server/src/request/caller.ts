import type { Scope } from '@review/contract';

/** The authenticated sender of a request. */
export interface Caller {
  credentialId: string;
  userId: string;
  workspaceId: string;
  scopes: ReadonlySet<Scope>;
}
