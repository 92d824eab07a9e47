import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { z } from 'zod';
import { savedKey } from '../session.ts';
import { rootRoute } from '../shell/route.tsx';
import { optional } from '../shell/search.ts';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: z.object({
    /** Where the visitor meant to go: a path of this console, never another site. */
    to: optional(z.string().regex(/^\/(?![/\\])/)),
    refused: optional(z.boolean()),
  }),
  beforeLoad: ({ search }) => {
    if (savedKey() !== null) throw redirect({ href: search.to ?? '/' });
  },
  component: lazyRouteComponent(() => import('./sign-in.tsx'), 'SignIn'),
});
