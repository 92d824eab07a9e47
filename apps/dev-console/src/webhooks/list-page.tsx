import { Group, Stack, Text } from '@mantine/core';
import { contract, type ListedWebhook, MAX_WEBHOOKS } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useProject } from '../projects/project-query.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import rows from '../ui/rows.module.css';
import { webhooksQuery } from './queries.ts';
import { troubleOf, WebhookBadge } from './state.tsx';
import { WebhookForm } from './webhook-form.tsx';

const route = getRouteApi('/console/projects/$projectId/webhooks');

export function WebhooksPage() {
  const { projectId } = route.useParams();
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const { refusal, isSettled } = useProject(projectId);
  const unreadable = refusal(contract.webhooks.list);
  const query = useQuery({ ...webhooksQuery(projectId), enabled: isSettled && unreadable === null });
  const isFull = query.data !== undefined && query.data.length >= MAX_WEBHOOKS;
  const uncreatable =
    refusal(contract.webhooks.create) ?? (isFull ? `A project has at most ${MAX_WEBHOOKS} webhooks.` : null);
  const form = (open: boolean) => void navigate({ search: open ? { create: true } : {}, replace: true });
  const newWebhook = (
    <ActionButton refusal={uncreatable} leftSection={<Icon name="plus" size={16} />} onClick={() => form(true)}>
      New webhook
    </ActionButton>
  );
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Text c="dimmed" size="sm" maw="36rem">
          Another service gets every change of this project by POST, signed by Standard Webhooks and retried for three
          days.
        </Text>
        {newWebhook}
      </Group>
      <Loaded query={query} refusal={unreadable}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <EmptyState icon="pulse" title="No webhooks" action={newWebhook}>
              A webhook tells a chat, a tracker or a build about new files, comments and statuses, without polling.
            </EmptyState>
          ) : (
            <ul className={rows.rows} aria-label="Webhooks">
              {webhooks.map((webhook) => (
                <WebhookRow key={webhook.id} projectId={projectId} webhook={webhook} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {create && uncreatable === null && (
        <WebhookForm
          projectId={projectId}
          onDone={(webhookId) =>
            void navigate({ to: '/projects/$projectId/webhooks/$webhookId', params: { projectId, webhookId } })
          }
          onClose={() => form(false)}
        />
      )}
    </Stack>
  );
}

function WebhookRow({ projectId, webhook }: { projectId: string; webhook: ListedWebhook }) {
  const { id, url, description, types } = webhook;
  const count = types === null ? 'all events' : types.length === 1 ? types[0] : `${types.length} types of events`;
  return (
    <li className={rows.row}>
      <Icon name="pulse" />
      <div className={rows.main}>
        <Link
          to="/projects/$projectId/webhooks/$webhookId"
          params={{ projectId, webhookId: id }}
          className={rows.name}
          title={url}
        >
          {url}
        </Link>
        <div className={rows.detail}>{[description, count].filter(Boolean).join(' · ')}</div>
        <div className={rows.detail}>{troubleOf(webhook)}</div>
      </div>
      <WebhookBadge webhook={webhook} />
    </li>
  );
}
