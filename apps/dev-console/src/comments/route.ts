import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { projectRoute } from '../projects/route.ts';
import { optional } from '../shell/search.ts';

export const projectCommentsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/comments',
  validateSearch: z.object({
    show: optional(z.enum(['open', 'resolved'])),
    thread: optional(z.string()),
  }),
  component: lazyRouteComponent(() => import('./project-page.tsx'), 'ProjectCommentsPage'),
});
