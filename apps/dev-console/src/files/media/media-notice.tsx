import { Group, Text } from '@mantine/core';
import { contract, type FileRecord, type ProjectRole } from '@review/contract';
import { client } from '../../api.ts';
import { useApiMutation } from '../../api-mutation.ts';
import { useRefusal } from '../../session/access.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { Icon } from '../../ui/icon.tsx';
import notice from '../../ui/notice.module.css';
import { ProblemNotice } from '../../ui/problem-notice.tsx';

interface MediaNoticeProps {
  file: FileRecord;
  role: ProjectRole | undefined;
}

/** Says that the preview of a file is being made, or why it could not be. */
export function MediaNotice({ file: { id, media }, role }: MediaNoticeProps) {
  const refusal = useRefusal()(contract.files.rebuildMedia, role);
  const rebuild = useApiMutation(() => client.files.rebuildMedia({ params: { id } }), { invalidates: [['files', id]] });
  if (media?.status === 'PENDING') {
    // A document whose facts are known waits for pictures of pages only, which the viewer requests.
    if (media.pageCount !== null) return null;
    return (
      <Text size="sm" c="dimmed" mt="xs" role="status">
        The preview and the facts of this file are being made. They appear here by themselves.
      </Text>
    );
  }
  if (media === null || media.error === null) return null;
  return (
    <div className={notice.notice} data-kind="warning" role="note" style={{ marginTop: '1rem' }}>
      <Text fw={600}>There is no preview of this file</Text>
      <Text size="sm" mt={4}>
        {media.error.message}
      </Text>
      <Group mt="sm" gap="sm">
        <ActionButton
          size="compact-sm"
          variant="default"
          leftSection={<Icon name="repeat" size={14} />}
          refusal={refusal}
          loading={rebuild.isPending}
          onClick={() => rebuild.mutate(undefined)}
        >
          Rebuild
        </ActionButton>
      </Group>
      {rebuild.isError && <ProblemNotice error={rebuild.error} />}
    </div>
  );
}
