/** An answer with one field changed, and where. */
export interface Mutation {
  path: string;
  kind: string;
  answer: object;
}

/** Every type that a field of JSON can have. */
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

/** The same answer with each of its fields, at any depth, dropped, made null, or of every other type; and with one more. */
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

/** Another text is another value, not another type; that is for tests of what a text means. */
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
