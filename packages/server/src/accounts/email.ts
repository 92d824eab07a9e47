/**
 * Returns the lower-case form under which an account is stored, or undefined for an address that is not ASCII. Case folding
 * beyond ASCII maps different characters to one (U+212A KELVIN SIGN becomes `k`), which would give an account to the owner
 * of a look-alike address.
 */
export const canonicalEmail = (address: string): string | undefined =>
  /^[\x21-\x7e]+$/.test(address) ? address.toLowerCase() : undefined;
