import { createRoute } from '@tanstack/react-router';
import { projectRoute } from '../projects/route.ts';
import { lazyPage } from '../shell/lazy-page.ts';
import { oneOf, search, text } from '../shell/search.ts';

export const projectCommentsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/comments',
  validateSearch: search(({ show, thread }) => ({ show: oneOf(['open', 'resolved'], show), thread: text(thread) })),
  component: lazyPage(() => import('./project-page.tsx'), 'ProjectCommentsPage'),
});
