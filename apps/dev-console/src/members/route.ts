import { createRoute } from '@tanstack/react-router';
import { projectRoute } from '../projects/route.ts';
import { lazyPage } from '../shell/lazy-page.ts';
import { consoleRoute } from '../shell/route.tsx';
import { flag, search, text, uuid } from '../shell/search.ts';

export const membersRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/members',
  validateSearch: search(({ add }) => ({ add: flag(add) })),
  component: lazyPage(() => import('./page.tsx'), 'MembersPage'),
});

export const peopleRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/people',
  validateSearch: search(({ keyword, person }) => ({
    keyword: text(keyword),
    /** The user id of the person to mark. */
    person: uuid(person),
  })),
  component: lazyPage(() => import('./people-page.tsx'), 'PeoplePage'),
});
