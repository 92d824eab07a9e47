import './content-policy.ts';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import '@fontsource-variable/inter/wght.css';
import '@mantine/core/styles.css';
import './shell/console.css';
import { queryClient } from './api.ts';
import { onReached } from './connection/reachability.ts';
import { registerServiceWorker } from './connection/service-worker.ts';
import { followTabs } from './connection/tabs.ts';
import { refetch } from './live/refetch.ts';
import { closeAll } from './live/streams.ts';
import { router } from './routes.tsx';
import { savedKey } from './saved-key.ts';
import { resumeSession } from './shell/resume-session.ts';
import { theme } from './shell/theme.ts';

followTabs({
  onSignedIn: () => void resumeSession(router),
  onSignedOut: () => {
    closeAll();
    const { pathname, searchStr, hash } = router.latestLocation;
    const to = { to: pathname + searchStr };
    void router.navigate({ to: '/sign-in', search: to, hash }).then(() => queryClient.clear());
  },
  onChanged: (queryKeys) => {
    // A hidden tab loads the data when it is shown.
    if (document.visibilityState === 'visible') void refetch(queryKeys);
    else for (const queryKey of queryKeys) void queryClient.invalidateQueries({ queryKey, refetchType: 'none' });
  },
});
onReached(() => void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.error !== null }));
// Later, so that it does not compete with the page.
window.addEventListener('load', () => void registerServiceWorker());

// The code of the page loads while the session does.
if (savedKey() !== null) {
  const [routes] = router.getMatchedRoutes(router.latestLocation.pathname);
  for (const route of routes) void router.loadRouteChunk(route);
}

const root = document.getElementById('console');
if (root === null) throw new Error('the page has no place for the console');
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
