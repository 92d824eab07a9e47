import { createRoute } from '@tanstack/react-router';
import { projectRoute } from '../projects/route.ts';
import { lazyPage } from '../shell/lazy-page.ts';
import { oneOf, search, texts, whole } from '../shell/search.ts';

export const versionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/versions',
  validateSearch: search(({ page, sort, create }) => ({
    page: whole(page, 1, 100),
    sort: oneOf(['name'], sort),
    /** The initial files of a new version; if present, the form is open. */
    create: texts(create),
  })),
  component: lazyPage(() => import('./list-page.tsx'), 'VersionsPage'),
});

export const versionRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/versions/$versionId',
  component: lazyPage(() => import('./page.tsx'), 'VersionPage'),
});
