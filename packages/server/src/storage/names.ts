const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{1,127}$/;

/** Returns the name, or throws if it is unsafe as a file name. Prevents path traversal by keys and upload ids. */
export function plainName(name: string): string {
  if (!PLAIN_NAME.test(name))
    throw new TypeError(`The name ${JSON.stringify(name)} is not allowed: use letters, digits, _ and -.`);
  return name;
}
