import { type Family, MODELS } from '@review/contract';
import type { Host } from './open.ts';

/** What the provider calls the models of a family. */
export const wireModels = (name: Family, { wireId }: Host): string[] =>
  MODELS.flatMap(({ id, family }) => (family === name ? [wireId(id, id)] : []));

/** What is to be said of an account that lists these models. */
export function findings(wanted: readonly string[], listed: ReadonlySet<string>): string {
  const missing = wanted.filter((id) => !listed.has(id));
  if (missing.length === 0) return `it has ${wanted.join(', ')}`;
  return `it answers, but does not list ${missing.join(', ')}`;
}
