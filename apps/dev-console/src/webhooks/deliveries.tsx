import { Group, NativeSelect, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { contract, WEBHOOK_DELIVERY_STATUSES, type WebhookDelivery } from '@review/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import type { ProjectRefusal } from '../projects/project-query.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import rows from '../ui/rows.module.css';
import { Time } from '../ui/time.tsx';
import { deliveriesQuery } from './queries.ts';
import { RedeliverSince } from './redeliver-since.tsx';
import { DeliveryBadge, deliveryLabel } from './state.tsx';
import classes from './webhooks.module.css';

const route = getRouteApi('/console/projects/$projectId/webhooks/$webhookId');

interface DeliveriesProps {
  webhookId: string;
  enabled: boolean;
  refusal: ProjectRefusal;
}

export function Deliveries({ webhookId, enabled, refusal }: DeliveriesProps) {
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery({ ...deliveriesQuery(webhookId, status), enabled });
  const [asking, dialog] = useDisclosure(false);
  return (
    <section aria-labelledby="deliveries">
      <Group justify="space-between" mb="sm">
        <Title order={2} id="deliveries">
          Deliveries
        </Title>
        <Group gap="sm">
          <NativeSelect
            size="xs"
            aria-label="Status of deliveries"
            value={status ?? ''}
            onChange={({ target }) => {
              const next = WEBHOOK_DELIVERY_STATUSES.find((each) => each === target.value);
              void navigate({ search: { status: next }, replace: true });
            }}
            data={[
              { value: '', label: 'Any status' },
              ...WEBHOOK_DELIVERY_STATUSES.map((each) => ({ value: each, label: deliveryLabel(each) })),
            ]}
          />
          <ActionButton
            size="xs"
            variant="default"
            refusal={refusal(contract.webhooks.redeliverSince)}
            onClick={dialog.open}
          >
            Redeliver since…
          </ActionButton>
        </Group>
      </Group>
      <Loaded query={query}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <EmptyState icon="pulse" title={status === undefined ? 'No deliveries yet' : 'No delivery matches'}>
              {status === undefined
                ? 'Every later change of the project is delivered. Send a test event to try the receiver.'
                : 'Choose any status to see the others.'}
            </EmptyState>
          ) : (
            <Stack gap="md">
              <ul className={rows.rows} aria-label="Deliveries, newest first">
                {deliveries.map((delivery) => (
                  <DeliveryRow
                    key={delivery.id}
                    delivery={delivery}
                    webhookId={webhookId}
                    refusal={refusal(contract.webhooks.redeliver)}
                  />
                ))}
              </ul>
              <MoreButton query={query}>Show older deliveries</MoreButton>
            </Stack>
          )
        }
      </Loaded>
      {asking && <RedeliverSince webhookId={webhookId} onClose={dialog.close} />}
    </section>
  );
}

interface DeliveryRowProps {
  delivery: WebhookDelivery;
  webhookId: string;
  refusal: string | null;
}

function DeliveryRow({ delivery, webhookId, refusal }: DeliveryRowProps) {
  const { id, event, status, attempts, nextAttemptAt, lastAttemptAt, createdAt } = delivery;
  const redeliver = useApiMutation(() => client.webhooks.redeliver({ params: { id } }), {
    invalidates: [['webhook-deliveries', webhookId]],
  });
  return (
    <li className={rows.row}>
      <div className={rows.main}>
        <span className={rows.name}>{event.type}</span>
        <div className={rows.detail}>
          <Time at={lastAttemptAt ?? createdAt} /> · {attempts === 1 ? '1 attempt' : `${attempts} attempts`}
          {nextAttemptAt !== null && attempts > 0 && (
            <>
              {' · next '}
              <Time at={nextAttemptAt} />
            </>
          )}
        </div>
        <Answer delivery={delivery} />
        {redeliver.isError && <ProblemNotice error={redeliver.error} />}
      </div>
      <div className={rows.side}>
        <DeliveryBadge status={status} />
        <ActionButton
          size="xs"
          variant="subtle"
          color="gray"
          refusal={refusal}
          loading={redeliver.isPending}
          onClick={() => redeliver.mutate()}
        >
          Redeliver
        </ActionButton>
      </div>
    </li>
  );
}

/** The last answer of the receiver, or why there was none. */
function Answer({ delivery: { responseStatus, responseExcerpt, error } }: { delivery: WebhookDelivery }) {
  const words = error ?? (responseStatus === null ? null : `Answered with status ${responseStatus}.`);
  if (words === null) return null;
  if (responseExcerpt === null || responseExcerpt === '') {
    return (
      <Text size="sm" c="dimmed">
        {words}
      </Text>
    );
  }
  return (
    <details className={classes.answer}>
      <summary>{words}</summary>
      <pre>{responseExcerpt}</pre>
    </details>
  );
}
