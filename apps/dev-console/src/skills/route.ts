import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../shell/lazy-page.ts';
import { consoleRoute } from '../shell/route.tsx';
import { flag, search, text } from '../shell/search.ts';

export const skillsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/skills',
  validateSearch: search(({ create }) => ({ create: flag(create) })),
  component: lazyPage(() => import('./list-page.tsx'), 'SkillsPage'),
});

export const skillRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/skills/$skillId',
  validateSearch: search(({ version, write, about }) => ({
    /** The version to show; the default version if omitted. */
    version: text(version),
    /** Whether the editor of a new version is open. */
    write: flag(write),
    about: flag(about),
  })),
  component: lazyPage(() => import('./page.tsx'), 'SkillPage'),
});
