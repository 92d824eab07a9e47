/** The path to return to after sign-in, including the fragment. */
export const returnPath = (to = '/', hash = ''): string => (hash === '' ? to : `${to}#${hash}`);
