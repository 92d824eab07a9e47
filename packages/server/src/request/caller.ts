import type { Scope } from '@review/contract';

/** Who sends a request, by which credential and with which scopes. */
export interface Caller {
  credentialId: string;
  userId: string;
  workspaceId: string;
  scopes: ReadonlySet<Scope>;
}
