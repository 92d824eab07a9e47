import { z } from 'zod';

/** The maximum number of characters or items that the contract allows in a field. */
export function maxLengthOf(field: z.core.$ZodType): number {
  if (field instanceof z.ZodOptional || field instanceof z.ZodNullable) return maxLengthOf(field.unwrap());
  const { maxLength, maxItems } = z.globalRegistry.get(field) ?? {};
  const max = maxLength ?? maxItems;
  if (typeof max !== 'number') throw new Error('The contract sets no maximum length for this field.');
  return max;
}
