/** An answer with one changed field, and the path of the change. */
export interface Mutation {
  path: string;
  kind: string;
  answer: object;
}

/** A value of every JSON type. */
const TYPES: Record<string, unknown> = {
  null: null,
  number: 7,
  boolean: true,
  list: [],
  object: {},
  text: 'mutated',
  empty: '',
};

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'text';
  return typeof value;
};

/** Returns the answer with each field, at any depth, dropped, null or of every other type, and with an added field. */
export function mutationsOf(answer: object): Mutation[] {
  return pathsIn(answer).flatMap((path) => {
    const at = path.join('.');
    const value = path.reduce<unknown>(childOf, answer);
    const retyped = Object.entries(TYPES).filter(([type]) => type !== typeOf(value) && !isWord(type, value));
    const added = isObject(value)
      ? [{ path: at, kind: 'added', answer: changed(answer, [...path, 'added'], { odd: [1] }) }]
      : [];
    return [
      ...added,
      ...(path.length === 0
        ? []
        : [
            { path: at, kind: 'dropped', answer: changed(answer, path, undefined) },
            ...retyped.map(([type, other]) => ({ path: at, kind: type, answer: changed(answer, path, other) })),
          ]),
    ];
  });
}

/** Strings are not replaced by other strings: that would change the value, not the type. */
const isWord = (type: string, value: unknown): boolean => type === 'text' && typeof value === 'string';

const isObject = (value: unknown): value is Record<string, unknown> => typeOf(value) === 'object';

function childOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isObject(value) ? value[key] : undefined;
}

function pathsIn(value: unknown, path: string[] = []): string[][] {
  const children = Array.isArray(value) || isObject(value) ? Object.entries(value) : [];
  return [path, ...children.flatMap(([key, child]) => pathsIn(child, [...path, key]))];
}

function changed(answer: object, path: string[], value: unknown): object {
  const copy = structuredClone(answer);
  const [last = '', ...parents] = path.toReversed();
  const parent = parents.toReversed().reduce<unknown>(childOf, copy);
  if (Array.isArray(parent) && value === undefined) parent.splice(Number(last), 1);
  else if (typeof parent === 'object' && parent !== null) Reflect.set(parent, last, value);
  return copy;
}
