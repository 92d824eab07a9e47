import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { projectRoute } from '../projects/route.ts';
import { optional } from '../shell/search.ts';

export const versionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/versions',
  validateSearch: z.object({
    page: optional(z.int().min(1).max(100)),
    sort: optional(z.literal('name')),
    /** The initial files of a new version; if present, the form is open. */
    create: optional(z.array(z.string())),
  }),
  component: lazyRouteComponent(() => import('./list-page.tsx'), 'VersionsPage'),
});

export const versionRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/versions/$versionId',
  component: lazyRouteComponent(() => import('./page.tsx'), 'VersionPage'),
});
