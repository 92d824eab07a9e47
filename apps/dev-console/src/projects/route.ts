import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { consoleRoute } from '../shell/route.tsx';
import { optional } from '../shell/search.ts';

export const projectsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/projects',
  validateSearch: z.object({
    keyword: optional(z.string()),
    sort: optional(z.enum(['name', 'createdAt'])),
    create: optional(z.literal(true)),
  }),
  component: lazyRouteComponent(() => import('./list-page.tsx'), 'ProjectsPage'),
});

export const projectRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/projects/$projectId',
  component: lazyRouteComponent(() => import('./project-frame.tsx'), 'ProjectFrame'),
});

export const projectSettingsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings-page.tsx'), 'ProjectSettingsPage'),
});
