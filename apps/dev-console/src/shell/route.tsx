import { ApiProblem } from '@review/client';
import { createRootRoute, createRoute, redirect } from '@tanstack/react-router';
import { queryClient } from '../api.ts';
import { removeKey, savedKey } from '../saved-key.ts';
import { sessionQuery } from '../session/session-query.ts';
import { Shell } from './shell.tsx';

export const rootRoute = createRootRoute();

const refused = (error: unknown) => error instanceof ApiProblem && error.status === 401;

/** The layout route of all pages that need a session. Loads the session before any page renders. */
export const consoleRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'console',
  beforeLoad: async ({ location }) => {
    // The fragment can hold the key of an access link, so it must not become part of a URL that is sent to the server.
    const back = { to: location.pathname + location.searchStr };
    const { hash } = location;
    if (savedKey() === null) throw redirect({ to: '/sign-in', search: back, hash });
    try {
      await queryClient.ensureQueryData(sessionQuery);
    } catch (error) {
      if (!refused(error)) throw error;
      removeKey();
      throw redirect({ to: '/sign-in', search: { ...back, refused: true }, hash });
    }
  },
  component: Shell,
});

export const homeRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/runs', replace: true });
  },
});
