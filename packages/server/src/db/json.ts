/** JSON text of a `T` in a column. The type costs nothing at run time: readers parse the columns that they need. */
export type JsonText<T> = string & { readonly parsed?: T };

export function parseJson<T>(text: JsonText<T>): T;
export function parseJson<T>(text: JsonText<T> | null): T | null;
export function parseJson<T>(text: JsonText<T> | null): T | null {
  return text === null ? null : JSON.parse(text);
}
