import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { projectRoute } from '../projects/route.ts';
import { consoleRoute } from '../shell/route.tsx';
import { optional } from '../shell/search.ts';

export const joinRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/join',
  component: lazyRouteComponent(() => import('./join-page.tsx'), 'JoinPage'),
});

export const linksRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/links',
  validateSearch: z.object({ create: optional(z.literal(true)) }),
  component: lazyRouteComponent(() => import('./page.tsx'), 'LinksPage'),
});
