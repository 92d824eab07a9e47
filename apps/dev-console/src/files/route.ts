import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { consoleRoute } from '../shell/route.tsx';

export const fileRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/files/$fileId',
  validateSearch: z.object({
    /** Where to look: milliseconds into a video, or the page of a document, as the anchor of a comment says it. */
    at: z.int().min(0).optional().catch(undefined),
    /** The comment whose replies are open. */
    thread: z.string().optional().catch(undefined),
  }),
  component: lazyRouteComponent(() => import('./page.tsx'), 'FilePage'),
});
