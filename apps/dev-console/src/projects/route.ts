import { contract } from '@review/contract';
import { createRoute } from '@tanstack/react-router';
import { queryClient } from '../api.ts';
import { mayCall } from '../session/access.ts';
import { lazyPage } from '../shell/lazy-page.ts';
import { consoleRoute } from '../shell/route.tsx';
import { flag, oneOf, search, text } from '../shell/search.ts';
import { projectsQuery } from './project-query.ts';

const readSearch = search(({ keyword, sort, create }) => ({
  keyword: text(keyword),
  sort: oneOf(['name', 'createdAt'], sort),
  create: flag(create),
}));

export const projectsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/projects',
  validateSearch: readSearch,
  loaderDeps: ({ search: { keyword, sort } }) => ({ keyword, sort }),
  // Starts the query while the code of the page loads.
  loader: ({ deps, preload }) => {
    if (!preload && mayCall(contract.projects.list)) void queryClient.prefetchInfiniteQuery(projectsQuery(deps));
  },
  component: lazyPage(() => import('./list-page.tsx'), 'ProjectsPage'),
});

export const projectRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/projects/$projectId',
  component: lazyPage(() => import('./project-frame.tsx'), 'ProjectFrame'),
});

export const projectSettingsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/settings',
  component: lazyPage(() => import('./settings-page.tsx'), 'ProjectSettingsPage'),
});
