/** Folds case and Unicode composition for search and sorting. */
export const fold = (text: string): string =>
  text
    .normalize('NFC')
    // Only upper case maps ß and SS, and the dotless ı and I, to the same letters.
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    // Lower case makes a final ς of a sigma at the end of a word, and leaves the combining dot of İ.
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i')
    .normalize('NFC');

/** Returns the pattern of texts that contain the keyword, for `LIKE ... ESCAPE '\'`. */
export const containing = (keyword: string): string => `%${fold(keyword).replace(/[\\%_]/g, '\\$&')}%`;
