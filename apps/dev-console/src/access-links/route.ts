import { createRoute } from '@tanstack/react-router';
import { projectRoute } from '../projects/route.ts';
import { lazyPage } from '../shell/lazy-page.ts';
import { consoleRoute } from '../shell/route.tsx';
import { flag, search } from '../shell/search.ts';

export const joinRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/join',
  component: lazyPage(() => import('./join-page.tsx'), 'JoinPage'),
});

export const linksRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/links',
  validateSearch: search(({ create }) => ({ create: flag(create) })),
  component: lazyPage(() => import('./page.tsx'), 'LinksPage'),
});
