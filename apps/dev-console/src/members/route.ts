import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { projectRoute } from '../projects/route.ts';
import { optional } from '../shell/search.ts';

export const membersRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/members',
  validateSearch: z.object({ add: optional(z.literal(true)) }),
  component: lazyRouteComponent(() => import('./page.tsx'), 'MembersPage'),
});
