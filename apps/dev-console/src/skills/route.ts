import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { consoleRoute } from '../shell/route.tsx';

export const skillsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/skills',
  validateSearch: z.object({ create: z.literal(true).optional().catch(undefined) }),
  component: lazyRouteComponent(() => import('./list-page.tsx'), 'SkillsPage'),
});

export const skillRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/skills/$skillId',
  validateSearch: z.object({
    /** The version that is shown; the default one unless said. */
    version: z.string().optional().catch(undefined),
    /** A new version is being written. */
    write: z.literal(true).optional().catch(undefined),
    about: z.literal(true).optional().catch(undefined),
  }),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SkillPage'),
});
