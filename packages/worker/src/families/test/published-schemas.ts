/** A field of a request, as the vendor documents it. */
export interface Field {
  type: 'string' | 'integer' | 'boolean' | 'object' | 'list';
  required?: true;
  values?: readonly unknown[];
  /** The bounds of a number, or of the length of a text or a list. */
  min?: number;
  max?: number;
  fields?: Schema;
  items?: Field;
}

export type Schema = Record<string, Field>;

/** Returns the faults of a request against the vendor's documentation; undocumented fields are faults. */
export function faultsIn(body: unknown, schema: Schema, at = ''): string[] {
  if (!isObject(body)) return [`${at || 'the body'} is no object`];
  const unknown = Object.keys(body).filter((key) => !Object.hasOwn(schema, key));
  return [
    ...unknown.map((key) => `${at}${key} is unknown`),
    ...Object.entries(schema).flatMap(([key, field]) => faultsInField(body[key], field, at + key)),
  ];
}

function faultsInField(value: unknown, field: Field, at: string): string[] {
  if (value === undefined) return field.required ? [`${at} is missing`] : [];
  if (!hasType(value, field.type)) return [`${at} is no ${field.type}`];
  if (field.values !== undefined && !field.values.includes(value)) return [`${at} is ${JSON.stringify(value)}`];
  const size = typeof value === 'number' ? value : typeof value === 'string' || Array.isArray(value) ? value.length : 0;
  if (size < (field.min ?? size) || size > (field.max ?? size)) return [`${at} is ${size}`];
  const { fields, items } = field;
  if (fields !== undefined) return faultsIn(value, fields, `${at}.`);
  if (items === undefined || !Array.isArray(value)) return [];
  return value.flatMap((item, index) => faultsInField(item, items, `${at}.${index}`));
}

function hasType(value: unknown, type: Field['type']): boolean {
  if (type === 'list') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const string = (...values: string[]): Field => ({ type: 'string', ...(values.length > 0 && { values }) });
export const integer = (min: number, max: number): Field => ({ type: 'integer', min, max });
export const boolean: Field = { type: 'boolean' };
export const object = (fields: Schema): Field => ({ type: 'object', fields });
export const list = (items: Field, limits: Pick<Field, 'min' | 'max'> = {}): Field => ({
  type: 'list',
  items,
  ...limits,
});
export const required = (field: Field): Field => ({ ...field, required: true });
export const words = (max: number): Field => ({ type: 'string', min: 1, max });

export const WIDE = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16', 'adaptive'];
export const item = (...kinds: string[]): Field =>
  object({
    type: required(string('text', ...kinds.map((kind) => `${kind}_url`))),
    text: words(7000),
    ...Object.fromEntries(kinds.map((kind) => [`${kind}_url`, object({ url: required(string()) })])),
    role: string('first_frame', 'last_frame', ...kinds.map((kind) => `reference_${kind}`)),
  });
