/** Letters that differ only in case or in how they are composed become the same. */
export const fold = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC');

/** Text that contains the keyword, for `LIKE ... ESCAPE '\'`. */
export const containing = (keyword: string): string => `%${fold(keyword).replace(/[\\%_]/g, '\\$&')}%`;
