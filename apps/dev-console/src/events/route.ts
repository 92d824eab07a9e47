import { createRoute } from '@tanstack/react-router';
import { projectRoute } from '../projects/route.ts';
import { lazyPage } from '../shell/lazy-page.ts';
import { oneOf, search, uuid } from '../shell/search.ts';
import { GROUPS } from './groups.ts';

export const activityRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/activity',
  validateSearch: search(({ about, by }) => ({
    about: oneOf(GROUPS, about),
    /** The id of a person. */
    by: uuid(by),
  })),
  component: lazyPage(() => import('./page.tsx'), 'ActivityPage'),
});
