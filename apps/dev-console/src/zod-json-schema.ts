// Replaces zod's conversion to JSON Schema in the browser bundle: the console never converts, and zod's classes would keep all of it.
const unavailable = () => {
  throw new Error('the console does not contain the conversion to JSON Schema');
};
// Called for each schema that the router reads search parameters with; only a call of the result would convert.
const method = () => unavailable;

export const toJSONSchema = unavailable;
export const createToJSONSchemaMethod = method;
export const createStandardJSONSchemaMethod = method;
