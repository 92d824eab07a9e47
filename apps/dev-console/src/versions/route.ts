import { EDITORS, type Project } from '@review/contract';
import { createRoute, redirect } from '@tanstack/react-router';
import { queryClient } from '../api.ts';
import { recentProjectsQuery } from '../projects/project-query.ts';
import { projectRoute } from '../projects/route.ts';
import { lazyPage } from '../shell/lazy-page.ts';
import { consoleRoute } from '../shell/route.tsx';
import { oneOf, search, texts, whole } from '../shell/search.ts';

const isEditor = ({ role }: Project) => EDITORS.some((editor) => editor === role);

/** People who only review start with what waits for them, others with their generations. */
export const homeRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/',
  beforeLoad: async () => {
    const projects = await queryClient.ensureQueryData(recentProjectsQuery).catch(() => []);
    const onlyReviews = projects.length > 0 && !projects.some(isEditor);
    throw redirect({ to: onlyReviews ? '/review' : '/runs', replace: true });
  },
});

export const reviewRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/review',
  component: lazyPage(() => import('./review-page.tsx'), 'ReviewPage'),
});

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
