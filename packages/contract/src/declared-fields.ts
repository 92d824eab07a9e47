import { z } from 'zod';

type Copy = (value: unknown) => unknown;

const asIs: Copy = (value) => value;
/** Of kinds whose values have no fields. */
const LEAVES = [
  z.core.$ZodString,
  z.core.$ZodNumber,
  z.core.$ZodBoolean,
  z.core.$ZodEnum,
  z.core.$ZodLiteral,
  z.core.$ZodUnknown,
];
const copies = new WeakMap<z.core.$ZodType, Copy>();

/**
 * Returns a function that copies the declared fields of a valid value, like `schema.parse` but without validation. Made once
 * per schema.
 */
export function declaredFields(schema: z.core.$ZodType): Copy {
  const made = copies.get(schema) ?? overwriting(schema, copyOf(schema));
  copies.set(schema, made);
  return made;
}

function copyOf(schema: z.core.$ZodType): Copy {
  if (schema instanceof z.core.$ZodObject && hasOnlyDeclaredFields(schema)) return objectCopy(schema._zod.def.shape);
  if (schema instanceof z.core.$ZodArray) {
    const item = declaredFields(schema._zod.def.element);
    return item === asIs ? asIs : (value) => (Array.isArray(value) ? value.map((entry) => item(entry)) : value);
  }
  if (schema instanceof z.core.$ZodNullable || schema instanceof z.core.$ZodOptional) {
    const inner = declaredFields(schema._zod.def.innerType);
    return inner === asIs ? asIs : (value) => (value === null || value === undefined ? value : inner(value));
  }
  if (LEAVES.some((kind) => schema instanceof kind) && !isCoerced(schema)) return asIs;
  return (value) => z.parse(schema, value);
}

const isCoerced = ({ _zod: { def } }: z.core.$ZodType): boolean => 'coerce' in def && def.coerce === true;

const hasOnlyDeclaredFields = ({ _zod: { def } }: z.core.$ZodObject): boolean =>
  def.catchall === undefined || def.catchall instanceof z.core.$ZodNever;

/** Compiles an object literal, as zod does for its parser: it is eight times as fast as a loop over the fields. */
function objectCopy(shape: z.core.$ZodShape): Copy {
  const fields = Object.entries(shape).map(([name, field]) => [JSON.stringify(name), declaredFields(field)] as const);
  const entries = fields.map(([name, copy], index) =>
    copy === asIs ? `${name}: value[${name}]` : `${name}: copies[${index}](value[${name}])`,
  );
  const compiled = new Function('copies', `return (value) => ({ ${entries.join(', ')} });`);
  return compiled(fields.map(([, copy]) => copy));
}

/** Applies the changes that the schema makes to a value, such as `toLowerCase`. */
function overwriting({ _zod: { def } }: z.core.$ZodType, copy: Copy): Copy {
  const changes = (def.checks ?? []).flatMap((check) =>
    check instanceof z.core.$ZodCheckOverwrite ? [check._zod.def.tx] : [],
  );
  return changes.reduce<Copy>((before, change) => (before === asIs ? change : (value) => change(before(value))), copy);
}
