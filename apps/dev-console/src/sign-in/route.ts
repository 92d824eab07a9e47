import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { z } from 'zod';
import { savedKey } from '../saved-key.ts';
import { rootRoute } from '../shell/route.tsx';
import { optional } from '../shell/search.ts';
import { returnPath } from './return-path.ts';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: z.object({
    /** The path to return to after sign-in; never a URL of another site. */
    to: optional(z.string().regex(/^\/(?![/\\])/)),
    refused: optional(z.boolean()),
  }),
  beforeLoad: ({ search, location }) => {
    if (savedKey() !== null) throw redirect({ href: returnPath(search.to, location.hash) });
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'SignIn'),
});
