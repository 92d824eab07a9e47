import { createRoute } from '@tanstack/react-router';
import { projectRoute } from '../projects/route.ts';
import { lazyPage } from '../shell/lazy-page.ts';
import { flag, search } from '../shell/search.ts';

export const membersRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/members',
  validateSearch: search(({ add }) => ({ add: flag(add) })),
  component: lazyPage(() => import('./page.tsx'), 'MembersPage'),
});
