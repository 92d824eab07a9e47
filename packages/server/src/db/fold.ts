/** Letters that differ only in case or in how they are composed become the same. */
export const fold = (text: string): string =>
  text
    .normalize('NFC')
    // Up and down again: ß and SS, the dotless ı and I meet only in upper case.
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    // A sigma ends a word in another shape, also where the word ends with the keyword; the dot of İ is left over.
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i')
    .normalize('NFC');

/** Text that contains the keyword, for `LIKE ... ESCAPE '\'`. */
export const containing = (keyword: string): string => `%${fold(keyword).replace(/[\\%_]/g, '\\$&')}%`;
