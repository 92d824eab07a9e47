import type { WebhookDeliveryStatus } from '@review/contract';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { client } from '../api.ts';

// Deliveries and their attempts are not events of the project.
const POLL_INTERVAL_MS = 2000;
const STATE_POLL_INTERVAL_MS = 5000;

export const webhooksQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'of', projectId],
    queryFn: async ({ signal }) => (await client.webhooks.list({ params: { id: projectId } }, { signal })).data,
    refetchInterval: STATE_POLL_INTERVAL_MS,
  });

/** A webhook with its secret. */
export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', id],
    queryFn: async ({ signal }) => (await client.webhooks.get({ params: { id } }, { signal })).data,
    refetchInterval: STATE_POLL_INTERVAL_MS,
  });

/** The deliveries of a webhook, newest first. */
export const deliveriesQuery = (id: string, status: WebhookDeliveryStatus | undefined) =>
  infiniteQueryOptions({
    queryKey: ['webhook-deliveries', id, { status }],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      client.webhooks.deliveries(
        { params: { id }, body: { ...(status && { status }), ...(pageParam !== '' && { next: pageParam }) } },
        { signal },
      ),
    getNextPageParam: ({ page }) => page.next,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
    refetchInterval: POLL_INTERVAL_MS,
  });
