import { Group, Stack, Switch, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { contract, type Webhook } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { type ProjectRefusal, useProject } from '../projects/project-query.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { Facts } from '../ui/facts.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { Time } from '../ui/time.tsx';
import { WithHint } from '../ui/with-hint.tsx';
import { Deliveries } from './deliveries.tsx';
import { webhookQuery } from './queries.ts';
import { Secret } from './secret.tsx';
import { troubleOf } from './state.tsx';
import { WebhookForm } from './webhook-form.tsx';

const route = getRouteApi('/console/projects/$projectId/webhooks/$webhookId');

export function WebhookPage() {
  const { projectId, webhookId } = route.useParams();
  const { refusal, isSettled } = useProject(projectId);
  const unreadable = refusal(contract.webhooks.get);
  const remove = useRemoval(projectId, webhookId);
  // Polling a deleted webhook would be answered with 404.
  const isKept = remove.isIdle || remove.isError;
  const query = useQuery({ ...webhookQuery(webhookId), enabled: isSettled && unreadable === null && isKept });
  return (
    <Stack gap="lg">
      <Text size="sm">
        <Link to="/projects/$projectId/webhooks" params={{ projectId }}>
          Webhooks
        </Link>
      </Text>
      <Loaded query={query} refusal={unreadable}>
        {(webhook) => (
          <>
            <WebhookHead projectId={projectId} webhook={webhook} refusal={refusal} remove={remove} />
            <Secret webhook={webhook} refusal={refusal} />
            <Deliveries webhookId={webhookId} enabled={isKept} refusal={refusal} />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

function useRemoval(projectId: string, id: string) {
  const navigate = route.useNavigate();
  return useApiMutation(() => client.webhooks.delete({ params: { id } }), {
    invalidates: [['webhooks', 'of', projectId]],
    onDone: () => void navigate({ to: '/projects/$projectId/webhooks', params: { projectId } }),
  });
}
type Removal = ReturnType<typeof useRemoval>;

interface WebhookHeadProps {
  projectId: string;
  webhook: Webhook;
  refusal: ProjectRefusal;
  remove: Removal;
}

function WebhookHead({ projectId, webhook, refusal, remove }: WebhookHeadProps) {
  const { id, url, description, types, createdAt } = webhook;
  const [editing, form] = useDisclosure(false);
  const params = { id };
  const test = useApiMutation(() => client.webhooks.test({ params }), { invalidates: [['webhook-deliveries', id]] });
  return (
    <section className="card" aria-labelledby="webhook">
      <Group justify="space-between" align="flex-start" mb="md">
        <Title order={2} id="webhook" style={{ overflowWrap: 'anywhere' }}>
          {url}
        </Title>
        <ActiveSwitch webhook={webhook} refusal={refusal(contract.webhooks.update)} />
      </Group>
      <Facts
        of={[
          ['Description', description],
          ['Events', types === null ? 'all' : types.join(', ')],
          ['Created', <Time key="created" at={createdAt} />],
          ['State', troubleOf(webhook)],
        ]}
      />
      <Group gap="xs" mt="md">
        <ActionButton
          size="xs"
          variant="default"
          refusal={refusal(contract.webhooks.test)}
          loading={test.isPending}
          onClick={() => test.mutate()}
        >
          Send a test event
        </ActionButton>
        <ActionButton size="xs" variant="default" refusal={refusal(contract.webhooks.update)} onClick={form.open}>
          Edit
        </ActionButton>
        <DeleteWebhook remove={remove} refusal={refusal(contract.webhooks.delete)} />
      </Group>
      {test.isError && <ProblemNotice error={test.error} />}
      {editing && <WebhookForm projectId={projectId} old={webhook} onDone={form.close} onClose={form.close} />}
    </section>
  );
}

function ActiveSwitch({ webhook: { id, active }, refusal }: { webhook: Webhook; refusal: string | null }) {
  const change = useApiMutation((next: boolean) => client.webhooks.update({ params: { id }, body: { active: next } }), {
    invalidates: [['webhooks']],
  });
  return (
    <Stack gap="xs" align="flex-end">
      <WithHint hint={refusal}>
        <Switch
          label="Active"
          labelPosition="left"
          disabled={refusal !== null || change.isPending}
          checked={change.isPending ? change.variables : active}
          onChange={({ target }) => change.mutate(target.checked)}
        />
      </WithHint>
      {change.isError && <ProblemNotice error={change.error} />}
    </Stack>
  );
}

function DeleteWebhook({ remove, refusal }: { remove: Removal; refusal: string | null }) {
  const [asking, dialog] = useDisclosure(false);
  return (
    <>
      <ActionButton size="xs" variant="subtle" color="red" refusal={refusal} onClick={dialog.open}>
        Delete
      </ActionButton>
      {asking && (
        <ConfirmDialog
          title="Delete this webhook?"
          submit="Delete webhook"
          mutation={remove}
          onConfirm={remove.mutate}
          onClose={dialog.close}
        >
          Its deliveries are deleted too, also those that still wait.
        </ConfirmDialog>
      )}
    </>
  );
}
