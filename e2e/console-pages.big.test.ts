import { DARK, LIGHT_PHONE, lookAtEveryPage } from './console-pages.ts';

lookAtEveryPage([DARK, LIGHT_PHONE]);
