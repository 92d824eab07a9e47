import { DARK, DARK_PHONE, LIGHT, LIGHT_PHONE, lookAtEveryPage } from './console-pages.ts';

lookAtEveryPage([LIGHT, DARK, LIGHT_PHONE, DARK_PHONE]);
