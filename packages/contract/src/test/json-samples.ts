import fc from 'fast-check';

/** The keywords of JSON Schema that the documents use for requests. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  propertyNames?: JsonSchema;
  additionalProperties?: JsonSchema | false;
  maxProperties?: number;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
}

/** Generates values that match a schema apart from its `not`. */
export function samplesOf(schema: JsonSchema, resolve: (reference: string) => JsonSchema): fc.Arbitrary<unknown> {
  const samples = (inner: JsonSchema) => samplesOf(inner, resolve);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.$ref !== undefined) return samples(resolve(schema.$ref));
  if (schema.allOf !== undefined) {
    const { allOf, ...own } = schema;
    return samples(allOf.reduce(narrowed, own));
  }
  const { anyOf, oneOf, ...own } = schema;
  const alternatives = anyOf ?? oneOf;
  if (alternatives !== undefined) {
    return fc.oneof(...alternatives.map((alternative) => samples(narrowed(own, alternative))));
  }
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => samples({ ...schema, type })));
  switch (schema.type) {
    case 'object':
      return objects(schema, samples);
    case 'array':
      return arrays(schema, samples);
    case 'string':
      return strings(schema);
    case 'integer':
      return fc.integer({ min: Math.max(schema.minimum ?? 0, -1e9), max: Math.min(schema.maximum ?? 1e9, 1e9) });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e9, max: schema.maximum ?? 1e9, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case undefined:
      return fc.jsonValue({ maxDepth: 3 });
    default:
      throw new Error(`no samples of ${schema.type}`);
  }
}

/** Merges two schemas that do not contradict each other. */
function narrowed(schema: JsonSchema, further: JsonSchema): JsonSchema {
  const properties = { ...schema.properties };
  for (const [name, property] of Object.entries(further.properties ?? {})) {
    properties[name] = narrowed(properties[name] ?? {}, property);
  }
  return { ...schema, ...further, ...(Object.keys(properties).length > 0 && { properties }) };
}

type Samples = (schema: JsonSchema) => fc.Arbitrary<unknown>;

function objects(schema: JsonSchema, samples: Samples): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], propertyNames, additionalProperties: values, maxProperties = 5 } = schema;
  if (values)
    return fc.dictionary(strings(propertyNames ?? {}), samples(values), {
      maxKeys: Math.min(maxProperties, 5),
      noNullPrototype: true,
    });
  const fields = Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, samples(property)]));
  return fc.record(fields, { requiredKeys: required, noNullPrototype: true });
}

function arrays(schema: JsonSchema, samples: Samples): fc.Arbitrary<unknown> {
  const { items = {}, minItems: minLength = 0, maxItems = 5, uniqueItems } = schema;
  const bounds = { minLength, maxLength: Math.min(maxItems, 5) };
  return uniqueItems
    ? fc.uniqueArray(samples(items), { ...bounds, selector: (item) => JSON.stringify(item) })
    : fc.array(samples(items), bounds);
}

function strings({ pattern = '^.*$', minLength = 0, maxLength = 1000 }: JsonSchema): fc.Arbitrary<string> {
  return fc
    .stringMatching(new RegExp(pattern, 'u'))
    .filter((text) => text.length >= minLength && text.length <= maxLength);
}
