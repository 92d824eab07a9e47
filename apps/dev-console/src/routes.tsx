import { createRouter } from '@tanstack/react-router';
import { joinRoute, linksRoute } from './access-links/route.ts';
import { projectCommentsRoute } from './comments/route.ts';
import { activityRoute } from './events/route.ts';
import { compareRoute } from './files/compare/route.ts';
import { fileRoute, projectFilesRoute } from './files/route.ts';
import { trashRoute } from './files/trash/route.ts';
import { generateRoute, runRoute, runsRoute } from './generation/route.ts';
import { healthRoute } from './health/route.ts';
import { membersRoute, peopleRoute } from './members/route.ts';
import { projectRoute, projectSettingsRoute, projectsRoute } from './projects/route.ts';
import { PageFailure } from './shell/page-failure.tsx';
import { PageSkeleton } from './shell/page-skeleton.tsx';
import { consoleRoute, rootRoute } from './shell/route.tsx';
import { signInRoute } from './sign-in/route.ts';
import { skillRoute, skillsRoute } from './skills/route.ts';
import { NotFound } from './ui/not-found.tsx';
import { homeRoute, reviewRoute, versionRoute, versionsRoute } from './versions/route.ts';
import { webhookRoute, webhooksRoute } from './webhooks/route.ts';

/** All routes of the console; each folder adds its own in one line. */
const routeTree = rootRoute.addChildren([
  signInRoute,
  consoleRoute.addChildren([
    homeRoute,
    reviewRoute,
    generateRoute,
    runsRoute,
    runRoute,
    projectsRoute,
    projectRoute.addChildren([
      projectFilesRoute,
      trashRoute,
      versionsRoute,
      versionRoute,
      projectCommentsRoute,
      activityRoute,
      membersRoute,
      linksRoute,
      webhooksRoute,
      webhookRoute,
      projectSettingsRoute,
    ]),
    fileRoute,
    compareRoute,
    joinRoute,
    skillsRoute,
    skillRoute,
    peopleRoute,
    healthRoute,
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailure,
  defaultPendingComponent: PageSkeleton,
  defaultPendingMs: 150,
  defaultPendingMinMs: 0,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
