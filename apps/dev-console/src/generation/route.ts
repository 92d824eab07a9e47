import { FILE_STATUSES, FileId, OutputType, VideoConfigs } from '@review/contract';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { consoleRoute } from '../shell/route.tsx';

export const generateRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/generate',
  validateSearch: z.object({
    project: z.string().optional().catch(undefined),
    type: OutputType.optional().catch(undefined),
    model: z.string().optional().catch(undefined),
    prompt: z.string().optional().catch(undefined),
    folder: z.string().optional().catch(undefined),
    attachments: z.array(z.string()).optional().catch(undefined),
    configs: VideoConfigs.optional().catch(undefined),
  }),
  component: lazyRouteComponent(() => import('./generate-page.tsx'), 'GeneratePage'),
});

export const runsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/runs',
  validateSearch: z.object({
    project: z.string().optional().catch(undefined),
    type: OutputType.optional().catch(undefined),
    status: z.enum(FILE_STATUSES).optional().catch(undefined),
  }),
  component: lazyRouteComponent(() => import('./runs-page.tsx'), 'RunsPage'),
});

export const runRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/runs/$fileId',
  params: { parse: ({ fileId }) => ({ fileId: FileId.parse(fileId) }), stringify: (params) => params },
  component: lazyRouteComponent(() => import('./run-page.tsx'), 'RunPage'),
});
