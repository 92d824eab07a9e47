import { contract, REVIEW_STATUSES } from '@review/contract';
import { createRoute } from '@tanstack/react-router';
import { projectRoute } from '../projects/route.ts';
import { mayCall } from '../session/access.ts';
import { lazyPage } from '../shell/lazy-page.ts';
import { consoleRoute } from '../shell/route.tsx';
import { oneOf, search, text, whole } from '../shell/search.ts';
import { FILE_ORDERS } from './order.ts';
import { loadFile } from './queries.ts';

export const fileRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/files/$fileId',
  validateSearch: search(({ at, thread, sort, show, order }) => ({
    /** The position to show, in the unit of comment anchors: milliseconds of a video or page of a document. */
    at: whole(at, 0),
    /** The comment whose replies are expanded. */
    thread: text(thread),
    /** The order of the comments, and which are shown. */
    sort: oneOf(['time', 'date'], sort),
    show: oneOf(['open', 'resolved'], show),
    /** The order of the list in which the previous and the next file are found. */
    order: oneOf(FILE_ORDERS, order),
  })),
  // Starts the queries while the code of the page loads.
  loader: ({ params, preload }) => {
    if (!preload && mayCall(contract.files.get)) loadFile(params.fileId).catch(() => {});
  },
  component: lazyPage(() => import('./page.tsx'), 'FilePage'),
});

export const projectFilesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/',
  validateSearch: search(({ folder, keyword, tag, order, view }) => ({
    folder: text(folder),
    keyword: text(keyword),
    tag: oneOf(REVIEW_STATUSES, tag),
    order: oneOf(FILE_ORDERS, order),
    view: oneOf(['grid'], view),
  })),
  component: lazyPage(() => import('./browser-page.tsx'), 'FilesPage'),
});
