import { ApiProblem } from '@review/client';
import { createRootRoute, createRoute, redirect } from '@tanstack/react-router';
import { queryClient } from '../api.ts';
import { forgetKey, savedKey } from '../saved-key.ts';
import { sessionQuery } from '../session/session-query.ts';
import { Shell } from './shell.tsx';

export const rootRoute = createRootRoute();

const refused = (error: unknown) => error instanceof ApiProblem && error.status === 401;

/** Everything behind the sign-in: no page is drawn before the key is known to be good. */
export const consoleRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'console',
  beforeLoad: async ({ location }) => {
    // What follows the # can be the key of a link: it never becomes part of an address that is sent.
    const back = { to: location.pathname + location.searchStr };
    const { hash } = location;
    if (savedKey() === null) throw redirect({ to: '/sign-in', search: back, hash });
    try {
      await queryClient.ensureQueryData(sessionQuery);
    } catch (error) {
      if (!refused(error)) throw error;
      forgetKey();
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
