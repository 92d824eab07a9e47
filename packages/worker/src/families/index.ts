import { FAMILIES, Family as FamilyName } from '@review/contract';
import { z } from 'zod';
import type { FamilyDescription } from './family.ts';

const FIELDS: Record<keyof FamilyDescription<object>, 'string' | 'number' | 'function'> = {
  keySettings: 'string',
  readAccount: 'function',
  submitSeconds: 'number',
  storeSeconds: 'number',
  open: 'function',
};

const isDescription = (value: unknown): value is FamilyDescription<object> =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(FIELDS).every(([field, type]) => typeof Reflect.get(value, field) === type);

/** Returns the description that the file with the name of the family exports. */
export async function loadDescription(family: string): Promise<FamilyDescription<object>> {
  // In a variable, because Vite warns about a pattern of names in the own folder.
  const file = `./${family}.ts`;
  const module: Record<string, unknown> = await import(file).catch((cause: unknown) => {
    throw new Error(`The adapter of ${family} cannot be loaded from families/${family}.ts.`, { cause });
  });
  const [description, second] = Object.values(module).filter(isDescription);
  if (description === undefined || second !== undefined) {
    throw new Error(`families/${family}.ts must export exactly one FamilyDescription.`);
  }
  return description;
}

const loaded = await Promise.all(FAMILIES.map(async (family) => [family, await loadDescription(family)] as const));

/** The adapters of all families of the contract. */
export const ADAPTERS: Readonly<Record<FamilyName, FamilyDescription<object>>> = z
  .record(FamilyName, z.custom<FamilyDescription<object>>(isDescription))
  .parse(Object.fromEntries(loaded));
