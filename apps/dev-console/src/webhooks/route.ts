import { WEBHOOK_DELIVERY_STATUSES } from '@review/contract';
import { createRoute } from '@tanstack/react-router';
import { projectRoute } from '../projects/route.ts';
import { lazyPage } from '../shell/lazy-page.ts';
import { flag, oneOf, search } from '../shell/search.ts';

export const webhooksRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/webhooks',
  validateSearch: search(({ create }) => ({ create: flag(create) })),
  component: lazyPage(() => import('./list-page.tsx'), 'WebhooksPage'),
});

export const webhookRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/webhooks/$webhookId',
  validateSearch: search(({ status }) => ({ status: oneOf(WEBHOOK_DELIVERY_STATUSES, status) })),
  component: lazyPage(() => import('./page.tsx'), 'WebhookPage'),
});
