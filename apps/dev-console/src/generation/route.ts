import { FILE_STATUSES, OUTPUT_TYPES } from '@review/contract';
import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../shell/lazy-page.ts';
import { consoleRoute } from '../shell/route.tsx';
import { oneOf, search, text, texts } from '../shell/search.ts';

export const generateRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/generate',
  validateSearch: search(({ project, type, model, prompt, folder, attachments, configs, results }) => ({
    project: text(project),
    type: oneOf(OUTPUT_TYPES, type),
    model: text(model),
    prompt: text(prompt),
    folder: text(folder),
    attachments: texts(attachments),
    /** The files that were generated on the page, newest first. */
    results: texts(results),
    /** Validated by the page. */
    configs,
  })),
  component: lazyPage(() => import('./generate-page.tsx'), 'GeneratePage'),
});

export const runsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/runs',
  validateSearch: search(({ project, type, status }) => ({
    project: text(project),
    type: oneOf(OUTPUT_TYPES, type),
    status: oneOf(FILE_STATUSES, status),
  })),
  component: lazyPage(() => import('./runs-page.tsx'), 'RunsPage'),
});

export const runRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/runs/$fileId',
  component: lazyPage(() => import('./run-page.tsx'), 'RunPage'),
});
