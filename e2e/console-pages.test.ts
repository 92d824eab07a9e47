import { DARK_PHONE, lookAtEveryPage } from './console-pages.ts';

// The other manners are looked at by `npm run test:big`, where pictures of all are made when they are wanted.
lookAtEveryPage([DARK_PHONE]);
