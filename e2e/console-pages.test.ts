import { checkEveryPage, DARK_PHONE } from './console-pages.ts';

// `npm run test:big` checks the other variants, and takes screenshots of all if SCREENSHOTS is set.
checkEveryPage([DARK_PHONE]);
