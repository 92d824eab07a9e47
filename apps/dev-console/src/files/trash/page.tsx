import { Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { contract, LEADS, type TrashedFile } from '@review/contract';
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { client } from '../../api.ts';
import { useApiMutation } from '../../api-mutation.ts';
import { useProject } from '../../projects/project-query.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { MoreButton } from '../../ui/more-button.tsx';
import { ProblemNotice } from '../../ui/problem-notice.tsx';
import rows from '../../ui/rows.module.css';
import { sizeOf } from '../../ui/size.ts';
import { Time } from '../../ui/time.tsx';
import { Thumbnail } from '../media/thumbnail.tsx';

const route = getRouteApi('/console/projects/$projectId/trash');

const trashQuery = (projectId: string) =>
  infiniteQueryOptions({
    queryKey: ['files', 'trash', projectId],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      client.files.trash({ params: { id: projectId }, body: pageParam === '' ? {} : { next: pageParam } }, { signal }),
    getNextPageParam: ({ page }) => page.next,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
  });

export function TrashPage() {
  const { projectId } = route.useParams();
  const { project, isSettled, refusal } = useProject(projectId);
  const hidden = refusal(contract.files.trash);
  const trash = useInfiniteQuery({ ...trashQuery(projectId), enabled: isSettled && hidden === null });
  const isLead = project === undefined || LEADS.some((role) => role === project.role);
  const final = refusal(contract.files.delete) ?? (isLead ? null : 'Only owners and managers delete for good.');
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed">
          Deleted files stay here with their comments, until they are deleted for good.
        </Text>
        <Button
          variant="default"
          leftSection={<Icon name="previous" size={16} />}
          renderRoot={(props) => <Link {...props} to="/projects/$projectId" params={{ projectId }} />}
        >
          Back to the files
        </Button>
      </Group>
      <Loaded query={trash} refusal={hidden}>
        {(files) =>
          files.length === 0 ? (
            <EmptyState icon="trash" title="The trash is empty">
              Files that are deleted in this project appear here. They can be restored as they were.
            </EmptyState>
          ) : (
            <>
              <ul className={rows.rows} aria-label="Deleted files">
                {files.map((file) => (
                  <TrashRow key={file.id} file={file} restorable={refusal(contract.files.restore)} final={final} />
                ))}
              </ul>
              <MoreButton query={trash}>Show older files</MoreButton>
            </>
          )
        }
      </Loaded>
    </Stack>
  );
}

interface TrashRowProps {
  file: TrashedFile;
  /** Why the caller may not restore it or delete it for good, or null. */
  restorable: string | null;
  final: string | null;
}

function TrashRow({ file, restorable, final }: TrashRowProps) {
  const [asking, dialog] = useDisclosure(false);
  const params = { id: file.id };
  const invalidates = [['files'], ['versions']];
  const restore = useApiMutation(() => client.files.restore({ params }), { invalidates });
  const remove = useApiMutation(() => client.files.delete({ params, query: { trashed: 'true' } }), {
    invalidates: [['files', 'trash']],
    onDone: dialog.close,
  });
  return (
    <li className={rows.row}>
      <Thumbnail file={file} />
      <div className={rows.main}>
        <span className={rows.name} title={file.name}>
          {file.name}
        </span>
        <div className={rows.detail}>
          {file.size !== null && `${sizeOf(file.size)} · `}
          deleted <Time at={file.trashedAt} /> · deleted for good <Time at={file.deletesAt} />
        </div>
        {restore.isError && <ProblemNotice error={restore.error} />}
      </div>
      <div className={rows.side}>
        <ActionButton
          size="xs"
          variant="default"
          refusal={restorable}
          loading={restore.isPending}
          aria-label={`Restore ${file.name}`}
          onClick={() => restore.mutate()}
        >
          Restore
        </ActionButton>
        <ActionButton
          size="xs"
          variant="subtle"
          color="red"
          refusal={final}
          aria-label={`Delete for good: ${file.name}`}
          onClick={dialog.open}
        >
          Delete for good
        </ActionButton>
      </div>
      {asking && (
        <ConfirmDialog
          title={`Delete “${file.name}” for good?`}
          submit="Delete for good"
          mutation={remove}
          onConfirm={remove.mutate}
          onClose={dialog.close}
        >
          The file and its comments are deleted. This cannot be undone.
        </ConfirmDialog>
      )}
    </li>
  );
}
