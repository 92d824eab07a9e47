/** The maximum number of characters or items that the contract allows in a field; `without-schemas.ts` keeps it in the build. */
export function maxLengthOf(field: object): number {
  const max = 'maxLength' in field ? field.maxLength : null;
  if (typeof max !== 'number') throw new Error('The contract sets no maximum length for this field.');
  return max;
}
