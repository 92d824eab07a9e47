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
 * Starts a statement of Postgres that its connection sends together with the commit of the transaction. It returns nothing, and
 * the commit fails if it fails.
 */
export const WITH_COMMIT = '/* with the commit */';
