/**
 * The spelling under which an account is stored and found, or undefined for an address that has none. Only ASCII has one:
 * case folding beyond it maps different characters to one (U+212A KELVIN SIGN becomes `k`), which would give an account to
 * the holder of a look-alike address.
 */
export const canonicalEmail = (address: string): string | undefined =>
  /^[\x21-\x7e]+$/.test(address) ? address.toLowerCase() : undefined;
