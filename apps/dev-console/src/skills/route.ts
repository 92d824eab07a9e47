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
    /** The version to show; the default version if omitted. */
    version: optional(z.string()),
    /** Whether the editor of a new version is open. */
    write: optional(z.literal(true)),
    about: optional(z.literal(true)),
  }),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SkillPage'),
});
