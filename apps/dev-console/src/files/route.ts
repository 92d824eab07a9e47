import { ReviewStatus } from '@review/contract';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { projectRoute } from '../projects/route.ts';
import { consoleRoute } from '../shell/route.tsx';
import { optional } from '../shell/search.ts';

export const fileRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/files/$fileId',
  validateSearch: z.object({
    /** The position to show, in the unit of comment anchors: milliseconds of a video or page of a document. */
    at: optional(z.int().min(0)),
    /** The comment whose replies are expanded. */
    thread: optional(z.string()),
  }),
  component: lazyRouteComponent(() => import('./page.tsx'), 'FilePage'),
});

export const projectFilesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/',
  validateSearch: z.object({
    folder: optional(z.string()),
    keyword: optional(z.string()),
    tag: optional(ReviewStatus),
  }),
  component: lazyRouteComponent(() => import('./browser-page.tsx'), 'FilesPage'),
});
