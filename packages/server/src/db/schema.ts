import type { ProjectRole } from '@review/contract';
import type { Generated, Kysely, Transaction } from 'kysely';

/** Every table. Times are the text of the contract's `Timestamp`; identifiers are text, so both databases compare bytes. */
export interface Schema {
  workspaces: { id: string; name: string; avatar_url: string | null; created_at: string };
  users: { id: string; email: string; name: string; avatar_url: string | null; created_at: string };
  workspace_members: {
    id: string;
    workspace_id: string;
    user_id: string;
    display_name: string | null;
    avatar_url: string | null;
    created_at: string;
  };
  api_keys: {
    id: string;
    workspace_id: string;
    user_id: string;
    hash: string;
    /** The last characters, so that people can tell their keys apart. */
    hint: string;
    scopes: string;
    created_at: string;
    expires_at: string | null;
    last_used_at: string | null;
    revoked_at: string | null;
  };
  projects: {
    id: string;
    workspace_id: string;
    name: string;
    description: string | null;
    deadline: string | null;
    /** Folded by us, not by the database, so that order and search are the same on both. */
    folded_name: string;
    folded_text: string;
    created_at: string;
    updated_at: string;
    deletes_at: string | null;
  };
  project_members: { id: string; project_id: string; user_id: string; role: ProjectRole; created_at: string };
  folders: { id: string; project_id: string; parent_id: string | null; name: string; created_at: string };
  idempotency_keys: {
    scope: string;
    fingerprint: string;
    /** Names the attempt that holds the key: an attempt whose claim was taken over can no longer complete it. */
    claim: string;
    claimed_at: string;
    response: string | null;
  };
  /** Owned by rate-limiter-flexible; used on Postgres only. */
  rate_limits: { key: string; points: Generated<number>; expire: number | null };
  provider_reports: { family: string; state: string; reason: string | null; worker: string; reported_at: string };
}

export type Database = Kysely<Schema>;
export type Writer = Transaction<Schema>;
