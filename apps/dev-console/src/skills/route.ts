import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { consoleRoute } from '../shell/route.tsx';
import { optional } from '../shell/search.ts';

export const skillsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/skills',
  validateSearch: z.object({ create: optional(z.literal(true)) }),
  component: lazyRouteComponent(() => import('./list-page.tsx'), 'SkillsPage'),
});

export const skillRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/skills/$skillId',
  validateSearch: z.object({
    /** The version that is shown; the default one unless said. */
    version: optional(z.string()),
    /** A new version is being written. */
    write: optional(z.literal(true)),
    about: optional(z.literal(true)),
  }),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SkillPage'),
});
