import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../shell/lazy-page.ts';
import { consoleRoute } from '../../shell/route.tsx';
import { oneOf, search, text } from '../../shell/search.ts';
import { LAYERINGS } from './layering.ts';

export const compareRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/compare',
  validateSearch: search(({ left, right, mode }) => ({
    left: text(left),
    right: text(right),
    /** How two images are compared; side by side if omitted. */
    mode: oneOf(LAYERINGS, mode),
  })),
  component: lazyPage(() => import('./page.tsx'), 'ComparePage'),
});
