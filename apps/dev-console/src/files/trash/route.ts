import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../projects/route.ts';

export const trashRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/trash',
  component: lazyRouteComponent(() => import('./page.tsx'), 'TrashPage'),
});
