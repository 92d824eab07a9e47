import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { consoleRoute } from '../../shell/route.tsx';
import { optional } from '../../shell/search.ts';

export const compareRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/compare',
  validateSearch: z.object({
    left: optional(z.string()),
    right: optional(z.string()),
    /** How two images are compared; side by side if omitted. */
    mode: optional(z.enum(['wipe', 'overlay'])),
  }),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ComparePage'),
});
