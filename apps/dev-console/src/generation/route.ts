import { FILE_STATUSES, FileId, OutputType, VideoConfigs } from '@review/contract';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { z } from 'zod';
import { consoleRoute } from '../shell/route.tsx';
import { optional } from '../shell/search.ts';

export const generateRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/generate',
  validateSearch: z.object({
    project: optional(z.string()),
    type: optional(OutputType),
    model: optional(z.string()),
    prompt: optional(z.string()),
    folder: optional(z.string()),
    attachments: optional(z.array(z.string())),
    configs: optional(VideoConfigs),
  }),
  component: lazyRouteComponent(() => import('./generate-page.tsx'), 'GeneratePage'),
});

export const runsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/runs',
  validateSearch: z.object({
    project: optional(z.string()),
    type: optional(OutputType),
    status: optional(z.enum(FILE_STATUSES)),
  }),
  component: lazyRouteComponent(() => import('./runs-page.tsx'), 'RunsPage'),
});

export const runRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/runs/$fileId',
  params: { parse: ({ fileId }) => ({ fileId: FileId.parse(fileId) }), stringify: (params) => params },
  component: lazyRouteComponent(() => import('./run-page.tsx'), 'RunPage'),
});
