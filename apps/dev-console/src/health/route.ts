import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../shell/lazy-page.ts';
import { consoleRoute } from '../shell/route.tsx';

export const healthRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/health',
  component: lazyPage(() => import('./page.tsx'), 'HealthPage'),
});
