import { Button, CopyButton, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { contract, instantOf, type ListedAccessLink } from '@review/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { type ProjectRefusal, useProject } from '../projects/project-query.ts';
import { roleName } from '../session/access.ts';
import { useSession } from '../session/session-query.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import rows from '../ui/rows.module.css';
import { Time, useNow } from '../ui/time.tsx';
import { CreateLink } from './create-link.tsx';

const route = getRouteApi('/console/projects/$projectId/links');
const KEY_SCOPE = 'access-links:read.key';

export function LinksPage() {
  const { projectId } = route.useParams();
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const { refusal, isSettled } = useProject(projectId);
  const unreadable = refusal(contract.accessLinks.list);
  const uncreatable = refusal(contract.accessLinks.create);
  const query = useInfiniteQuery({
    queryKey: ['access-links', projectId],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      client.accessLinks.list({ params: { id: projectId }, body: pageParam === '' ? {} : { next: pageParam } }),
    getNextPageParam: ({ page }) => page.next,
    enabled: isSettled && unreadable === null,
  });
  const form = (open: boolean) => void navigate({ search: open ? { create: true } : {}, replace: true });
  const newLink = (
    <ActionButton refusal={uncreatable} leftSection={<Icon name="plus" size={16} />} onClick={() => form(true)}>
      New access link
    </ActionButton>
  );
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Text c="dimmed" size="sm" maw="36rem">
          Any user of the workspace who opens a link joins the project with the role of the link. Treat it like a
          password.
        </Text>
        {newLink}
      </Group>
      <Loaded query={query} refusal={unreadable}>
        {({ pages }) => {
          const links = pages.flatMap(({ data }) => data);
          return links.length === 0 ? (
            <EmptyState icon="link" title="No access links" action={newLink}>
              Create a link with a role and send it to the people who should join. Revoke it when it is no longer
              needed; members who joined with it stay.
            </EmptyState>
          ) : (
            <>
              <ul className={rows.rows} aria-label="Access links">
                {links.map((link) => (
                  <LinkRow key={link.id} link={link} refusal={refusal} />
                ))}
              </ul>
              <MoreButton query={query}>Show older links</MoreButton>
            </>
          );
        }}
      </Loaded>
      {create && uncreatable === null && <CreateLink projectId={projectId} onClose={() => form(false)} />}
    </Stack>
  );
}

/** The key is in the fragment, which browsers do not send, so it does not appear in server or proxy logs. */
const addressOf = (accessKey: string) => `${window.location.origin}/join#${accessKey}`;

function LinkRow({ link, refusal }: { link: ListedAccessLink; refusal: ProjectRefusal }) {
  const { id, accessKey, description, role, createdAt, expiresAt } = link;
  const { scopes } = useSession();
  const [asking, dialog] = useDisclosure(false);
  const now = useNow(60_000);
  const revoke = useApiMutation(() => client.accessLinks.delete({ params: { id } }), {
    invalidates: [['access-links']],
    onDone: dialog.close,
  });
  const expired = expiresAt !== null && instantOf(expiresAt) < now;
  const hidden = scopes.includes(KEY_SCOPE)
    ? 'The key of this link cannot be read.'
    : `This key lacks the scope ${KEY_SCOPE}, so the link’s own key stays hidden.`;
  return (
    <li className={rows.row}>
      <Icon name="link" />
      <div className={rows.main}>
        <span className={rows.name}>{description ?? 'Without a description'}</span>
        <div className={rows.detail}>
          Joins as {roleName(role)} · made <Time at={createdAt} />
          {expiresAt !== null && (
            <>
              {expired ? ' · expired ' : ' · expires '}
              <Time at={expiresAt} />
            </>
          )}
        </div>
      </div>
      <div className={rows.side}>
        {accessKey === null ? (
          <ActionButton size="xs" variant="default" refusal={hidden}>
            Copy link
          </ActionButton>
        ) : (
          <>
            <Copy label="Copy link" value={addressOf(accessKey)} />
            <Copy label="Copy key" value={accessKey} />
          </>
        )}
        <ActionButton
          size="xs"
          variant="subtle"
          color="red"
          refusal={refusal(contract.accessLinks.delete)}
          onClick={dialog.open}
        >
          Revoke
        </ActionButton>
      </div>
      {asking && (
        <ConfirmDialog
          title="Revoke this link?"
          submit="Revoke"
          mutation={revoke}
          onConfirm={revoke.mutate}
          onClose={dialog.close}
        >
          The link stops working. Members who joined with it stay.
        </ConfirmDialog>
      )}
    </li>
  );
}

const Copy = ({ label, value }: { label: string; value: string }) => (
  <CopyButton value={value}>
    {({ copied, copy }) => (
      <Button size="xs" variant="default" onClick={copy}>
        {copied ? 'Copied' : label}
      </Button>
    )}
  </CopyButton>
);
