import { ApiProblem } from '@review/client';
import { createRootRoute, createRoute, Outlet, redirect } from '@tanstack/react-router';
import { queryClient } from '../api.ts';
import { isKeyRefused } from '../connection/refusal.ts';
import { askTabsForKey } from '../connection/tabs.ts';
import { ConnectionBanner } from '../live/connection-banner.tsx';
import { forgetKey, savedKey } from '../saved-key.ts';
import { sessionQuery } from '../session/session-query.ts';
import { NotFound } from '../ui/not-found.tsx';
import { PageFailure } from './page-failure.tsx';
import { PageSkeleton } from './page-skeleton.tsx';
import { Shell } from './shell.tsx';

export const rootRoute = createRootRoute({
  component: () => (
    <>
      <ConnectionBanner />
      <Outlet />
    </>
  ),
  // An address outside the pages is shown without the shell, which has the landmark of the others.
  notFoundComponent: () => (
    <main>
      <NotFound />
    </main>
  ),
});

const refused = (error: unknown) => error instanceof ApiProblem && error.status === 401;

/** The layout route of all pages that need a session. Loads the session before any page renders. */
export const consoleRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'console',
  beforeLoad: async ({ location }) => {
    // The fragment can hold the key of an access link, so it must not become part of a URL that is sent to the server.
    const back = { to: location.pathname + location.searchStr };
    const { hash } = location;
    if (savedKey() === null) await askTabsForKey();
    if (savedKey() === null) throw redirect({ to: '/sign-in', search: back, hash });
    // The page stays while its user signs in again.
    if (isKeyRefused() && queryClient.getQueryData(sessionQuery.queryKey) !== undefined) return;
    try {
      await queryClient.ensureQueryData(sessionQuery);
    } catch (error) {
      if (!refused(error)) throw error;
      forgetKey();
      throw redirect({ to: '/sign-in', search: { ...back, refused: true }, hash });
    }
  },
  component: Shell,
  // Without a session there is no shell, which has the landmark of the pages.
  errorComponent: (props) => (
    <main>
      <PageFailure {...props} />
    </main>
  ),
  pendingComponent: () => (
    <main>
      <PageSkeleton />
    </main>
  ),
});
