import type { ListedWebhook, WebhookDeliveryStatus, WebhookDisabledReason } from '@review/contract';
import type { ReactNode } from 'react';
import badge from '../ui/status-badge.module.css';
import { Time } from '../ui/time.tsx';

const REASONS: Record<WebhookDisabledReason, string> = {
  GONE: 'Switched off: the receiver answered 410 Gone.',
  FAILING: 'Switched off after three days of failed attempts.',
  SECRET_UNREADABLE: 'Switched off: the server can no longer decrypt its secret. Rotate the secret, then switch it on.',
};

const DELIVERY: Record<WebhookDeliveryStatus, { label: string; color: string }> = {
  PENDING: { label: 'Waiting', color: 'blue' },
  SUCCEEDED: { label: 'Delivered', color: 'pine' },
  FAILED: { label: 'Failed', color: 'red' },
};
export const deliveryLabel = (status: WebhookDeliveryStatus): string => DELIVERY[status].label;

const Badge = ({ label, color }: { label: string; color: string }) => (
  <span className={badge.badge} data-color={color}>
    {label}
  </span>
);

export const DeliveryBadge = ({ status }: { status: WebhookDeliveryStatus }) => <Badge {...DELIVERY[status]} />;

export function WebhookBadge({ webhook: { active, failingSince } }: { webhook: ListedWebhook }) {
  if (!active) return <Badge label="Off" color="gray" />;
  return failingSince === null ? <Badge label="On" color="pine" /> : <Badge label="Failing" color="red" />;
}

/** Why a webhook is off or fails, or null. */
export function troubleOf({ active, disabledReason, failingSince, lastFailure }: ListedWebhook): ReactNode {
  if (disabledReason !== null) return REASONS[disabledReason];
  if (!active || failingSince === null) return null;
  return (
    <>
      Failing since <Time at={failingSince} />
      {lastFailure !== null && ` · ${lastFailure.error}`}
    </>
  );
}
