import { type Family, MODELS } from '@review/contract';
import type { AdapterContext } from './adapter-context.ts';
import { toStepError, type Vendor } from './refusal.ts';

/** Returns the provider's names of the family's models. */
export const providerModels = (name: Family, { providerModelId }: AdapterContext): string[] =>
  MODELS.flatMap(({ id, family }) => (family === name ? [providerModelId(id, id)] : []));

/** Describes an account that lists all wanted models; throws AUTH for one that lacks any of them. */
export function describeModels(vendor: Vendor, wanted: readonly string[], listed: ReadonlySet<string>): string {
  const missing = wanted.filter((id) => !listed.has(id));
  if (missing.length === 0) return `it has ${wanted.join(', ')}`;
  throw toStepError(vendor, { type: 'AUTH', words: `it does not list ${missing.join(', ')}` });
}
