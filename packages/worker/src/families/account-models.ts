import { type Family, MODELS } from '@review/contract';
import type { AdapterContext } from './adapter-context.ts';
import { refused, type Vendor } from './refusal.ts';

/** What the provider calls the models of a family. */
export const providerModels = (name: Family, { providerModelId }: AdapterContext): string[] =>
  MODELS.flatMap(({ id, family }) => (family === name ? [providerModelId(id, id)] : []));

/** What is to be said of an account that lists these models: one that lacks a model cannot make what is asked of it. */
export function findings(vendor: Vendor, wanted: readonly string[], listed: ReadonlySet<string>): string {
  const missing = wanted.filter((id) => !listed.has(id));
  if (missing.length === 0) return `it has ${wanted.join(', ')}`;
  throw refused(vendor, { type: 'AUTH', words: `it does not list ${missing.join(', ')}` });
}
