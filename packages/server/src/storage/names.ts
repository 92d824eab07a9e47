const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{1,127}$/;

/** Keys and uploads become file names: nothing that could lead out of a folder gets further than here. */
export function plainName(name: string): string {
  if (!PLAIN_NAME.test(name)) throw new TypeError(`not a plain name: ${JSON.stringify(name)}`);
  return name;
}
