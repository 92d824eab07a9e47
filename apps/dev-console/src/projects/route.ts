import { ReviewStatus } from '@review/contract';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { consoleRoute } from '../shell/route.tsx';

const optional = <Shape extends z.ZodType>(shape: Shape) => shape.optional().catch(undefined);

export const projectsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/projects',
  validateSearch: z.object({
    keyword: optional(z.string()),
    sort: optional(z.enum(['name', 'createdAt'])),
    create: optional(z.literal(true)),
  }),
  component: lazyRouteComponent(() => import('./list-page.tsx'), 'ProjectsPage'),
});

export const projectRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/projects/$projectId',
  component: lazyRouteComponent(() => import('./project-frame.tsx'), 'ProjectFrame'),
});

export const projectFilesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/',
  validateSearch: z.object({
    folder: optional(z.string()),
    keyword: optional(z.string()),
    tag: optional(ReviewStatus),
  }),
  component: lazyRouteComponent(() => import('../files/browser-page.tsx'), 'FilesPage'),
});

export const versionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/versions',
  validateSearch: z.object({
    page: optional(z.int().min(1).max(100)),
    sort: optional(z.literal('name')),
    /** The files a new version begins with: the form is open. */
    create: optional(z.array(z.string())),
  }),
  component: lazyRouteComponent(() => import('../versions/list-page.tsx'), 'VersionsPage'),
});

export const versionRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/versions/$versionId',
  component: lazyRouteComponent(() => import('../versions/page.tsx'), 'VersionPage'),
});

export const projectCommentsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/comments',
  validateSearch: z.object({
    show: optional(z.enum(['open', 'resolved'])),
    thread: optional(z.string()),
  }),
  component: lazyRouteComponent(() => import('../comments/project-page.tsx'), 'ProjectCommentsPage'),
});

export const membersRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/members',
  validateSearch: z.object({ add: optional(z.literal(true)) }),
  component: lazyRouteComponent(() => import('../members/page.tsx'), 'MembersPage'),
});

export const linksRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/links',
  validateSearch: z.object({ create: optional(z.literal(true)) }),
  component: lazyRouteComponent(() => import('../access-links/page.tsx'), 'LinksPage'),
});

export const projectSettingsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings-page.tsx'), 'ProjectSettingsPage'),
});
