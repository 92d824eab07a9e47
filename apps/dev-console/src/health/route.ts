import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from '../shell/route.tsx';

export const healthRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/health',
  component: lazyRouteComponent(() => import('./page.tsx'), 'HealthPage'),
});
