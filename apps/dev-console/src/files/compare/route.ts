import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { consoleRoute } from '../../shell/route.tsx';

export const compareRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/compare',
  validateSearch: z.object({
    left: z.string().optional().catch(undefined),
    right: z.string().optional().catch(undefined),
    /** How two pictures are laid: beside each other unless said. */
    mode: z.enum(['wipe', 'overlay']).optional().catch(undefined),
  }),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ComparePage'),
});
