import { z } from 'zod';

/** The most characters or items that the contract takes in a field of a body. */
export function mostOf(field: z.core.$ZodType): number {
  if (field instanceof z.ZodOptional || field instanceof z.ZodNullable) return mostOf(field.unwrap());
  const { maxLength, maxItems } = z.globalRegistry.get(field) ?? {};
  const most = maxLength ?? maxItems;
  if (typeof most !== 'number') throw new Error('The contract sets no bound to this field.');
  return most;
}
