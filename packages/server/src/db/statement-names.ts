import { createHash } from 'node:crypto';

/** Postgres keeps each named statement with its plan on each connection. The service has about 300, in tests for two databases. */
const MAX_NAMES = 1000;

const names = new Map<string, string>();

/** Names a prepared statement after its text, so that a name has the same text in all processes. */
export function nameStatement(text: string): void {
  if (names.size < MAX_NAMES) names.set(text, createHash('sha256').update(text).digest('base64url').slice(0, 20));
}

/** The name of a prepared statement; undefined for any other statement. */
export const statementName = (text: string): string | undefined => names.get(text);

/**
 * Starts a statement of Postgres whose result is not read. In a transaction, its connection sends it together with the next
 * statement or the commit, which fails if it fails.
 */
export const RESULT_UNREAD = '/* result unread */';
