/** Where the visitor meant to go, with what followed the #. */
export const addressBack = (to = '/', hash = ''): string => (hash === '' ? to : `${to}#${hash}`);
