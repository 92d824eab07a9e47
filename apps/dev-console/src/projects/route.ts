import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../shell/lazy-page.ts';
import { consoleRoute } from '../shell/route.tsx';
import { flag, oneOf, search, text } from '../shell/search.ts';

export const projectsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/projects',
  validateSearch: search(({ keyword, sort, create }) => ({
    keyword: text(keyword),
    sort: oneOf(['name', 'createdAt'], sort),
    create: flag(create),
  })),
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
