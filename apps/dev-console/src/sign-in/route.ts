import { createRoute, redirect } from '@tanstack/react-router';
import { askTabsForKey } from '../connection/tabs.ts';
import { savedKey } from '../saved-key.ts';
import { lazyPage } from '../shell/lazy-page.ts';
import { rootRoute } from '../shell/route.tsx';
import { flag, search } from '../shell/search.ts';
import { returnPath } from './return-path.ts';

const readSearch = search(({ to, refused }) => ({
  /** The path to return to after sign-in; never a URL of another site. */
  to: typeof to === 'string' && /^\/(?![/\\])/.test(to) ? to : undefined,
  refused: flag(refused),
}));

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: readSearch,
  beforeLoad: async ({ search, location }) => {
    if (savedKey() === null && !search.refused) await askTabsForKey();
    if (savedKey() !== null) throw redirect({ href: returnPath(search.to, location.hash) });
  },
  component: lazyPage(() => import('./page.tsx'), 'SignIn'),
});
