import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../../packages/contract/src/test/json-samples.ts';
import { schemas } from './operations.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const compiled = new WeakMap<JsonSchema, ValidateFunction>();

function validatorOf(schema: JsonSchema): ValidateFunction {
  const known = compiled.get(schema) ?? ajv.compile({ ...schema, components: { schemas } });
  compiled.set(schema, known);
  return known;
}

export const fits = (schema: JsonSchema, value: unknown): boolean => mismatchOf(schema, value) === null;

/** Returns how a value differs from a schema of the document, or null. */
export function mismatchOf(schema: JsonSchema, value: unknown): string | null {
  const validate = validatorOf(schema);
  return validate(value) ? null : ajv.errorsText(validate.errors);
}
