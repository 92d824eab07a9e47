/** Returns the names of those fields that a request gives. */
export const givenFields = <Field extends string>(
  body: { readonly [Key in Field]?: unknown },
  ...fields: readonly Field[]
): Field[] => fields.filter((field) => body[field] !== undefined);
