/** Reads the search parameters of a route, all of which are optional. Readers return undefined for invalid values. */
export const search =
  <Fields extends object>(read: (given: Record<string, unknown>) => Fields) =>
  (given: Record<string, unknown>): Partial<Fields> =>
    read(given);

/** The router parses `?keyword=90` as a number. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;

export const texts = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;

export const flag = (value: unknown): true | undefined => (value === true ? true : undefined);

export const oneOf = <const Value extends string>(values: readonly Value[], given: unknown): Value | undefined =>
  values.find((value) => value === given);

export const whole = (value: unknown, min: number, max = Number.MAX_SAFE_INTEGER): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const uuid = (value: unknown): string | undefined => {
  const id = text(value);
  return id !== undefined && UUID.test(id) ? id : undefined;
};
