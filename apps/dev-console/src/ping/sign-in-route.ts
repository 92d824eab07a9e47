import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { z } from 'zod';
import { savedKey } from '../session.ts';
import { rootRoute } from '../shell/route.tsx';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: z.object({
    /** Where the visitor meant to go: a path of this console, never another site. */
    to: z
      .string()
      .regex(/^\/(?![/\\])/)
      .optional()
      .catch(undefined),
    refused: z.boolean().optional().catch(undefined),
  }),
  beforeLoad: ({ search }) => {
    if (savedKey() !== null) throw redirect({ href: search.to ?? '/' });
  },
  component: lazyRouteComponent(() => import('./sign-in.tsx'), 'SignIn'),
});
