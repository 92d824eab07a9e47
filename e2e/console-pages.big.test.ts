import { checkEveryPage, DARK, DARK_PHONE, LIGHT, LIGHT_PHONE } from './console-pages.ts';

checkEveryPage([LIGHT, DARK, LIGHT_PHONE, DARK_PHONE]);
