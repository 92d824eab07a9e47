import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from '../shell/route.tsx';

export const joinRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/join',
  component: lazyRouteComponent(() => import('./join-page.tsx'), 'JoinPage'),
});
