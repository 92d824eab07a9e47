import { DARK, DARK_PHONE, LIGHT, LIGHT_PHONE, lookAtEveryPage } from './console-pages.ts';

// The other two manners are looked at by `npm run test:big`, or when pictures are wanted.
lookAtEveryPage(
  process.env['SCREENSHOTS'] === undefined ? [LIGHT, DARK_PHONE] : [LIGHT, DARK, LIGHT_PHONE, DARK_PHONE],
);
