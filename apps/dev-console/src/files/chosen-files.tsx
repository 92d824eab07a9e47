import { Button, Group, Menu, Text } from '@mantine/core';
import { contract, type FileRecord, type Folder, REVIEW_STATUSES } from '@review/contract';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../api.ts';
import { MoveDialog } from '../folders/move-dialog.tsx';
import type { ProjectRefusal } from '../projects/project-query.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { ActionItem } from '../ui/action-item.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { save } from '../ui/save.ts';
import { statusLabel } from '../ui/status-badge.tsx';
import { SomeFailed, useBulk } from './bulk.ts';
import classes from './chosen-files.module.css';

interface ChosenFilesProps {
  projectId: string;
  chosen: readonly FileRecord[];
  folders: readonly Folder[];
  folderId: string | null;
  refusal: ProjectRefusal;
  onAll: () => void;
  onNone: () => void;
}

/** The actions for the selected files. */
export function ChosenFiles({ projectId, chosen, folders, folderId, refusal, onAll, onNone }: ChosenFilesProps) {
  const navigate = useNavigate();
  const [asking, setAsking] = useState<'place' | 'end' | null>(null);
  const bulk = useBulk(() => setAsking(null));
  const ids = chosen.map(({ id }) => id);
  const each = (change: (id: string) => Promise<unknown>) => bulk.mutate({ ids, change });
  const [left, right] = ids;
  const count = `${chosen.length} ${chosen.length === 1 ? 'file' : 'files'}`;
  const notReady = chosen.every(({ status }) => status === 'UPLOADED') ? null : 'Some of them have no content yet.';
  const nameOf = new Map(chosen.map(({ id, name }) => [id, name]));
  return (
    <Group className={classes.bar} gap="xs" role="group" aria-label="With the chosen files">
      <Text size="sm" fw={550} className={classes.count} role="status">
        {bulk.isPending ? `${bulk.done} of ${count}` : `${chosen.length} chosen`}
      </Text>
      <ActionButton
        size="xs"
        refusal={chosen.length === 2 ? refusal(contract.files.download) : 'Choose exactly two files to compare them.'}
        onClick={() => {
          if (left !== undefined && right !== undefined) void navigate({ to: '/compare', search: { left, right } });
        }}
      >
        Compare
      </ActionButton>
      <ActionButton
        size="xs"
        variant="default"
        refusal={refusal(contract.versions.create)}
        onClick={() =>
          void navigate({ to: '/projects/$projectId/versions', params: { projectId }, search: { create: ids } })
        }
      >
        New version
      </ActionButton>
      <ActionButton
        size="xs"
        variant="default"
        refusal={refusal(contract.files.update)}
        onClick={() => setAsking('place')}
      >
        Move
      </ActionButton>
      <Menu withinPortal>
        <Menu.Target>
          <Button size="xs" variant="default">
            Review status
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {REVIEW_STATUSES.map((tag) => (
            <ActionItem
              key={tag}
              refusal={refusal(contract.files.setTag)}
              onClick={() => each((id) => client.files.setTag({ params: { id }, body: { tag } }))}
            >
              {statusLabel(tag)}
            </ActionItem>
          ))}
        </Menu.Dropdown>
      </Menu>
      <ActionButton
        size="xs"
        variant="default"
        refusal={refusal(contract.files.download) ?? notReady}
        onClick={() =>
          each(async (id) => save((await client.files.download({ params: { id } })).data.url, nameOf.get(id) ?? id))
        }
      >
        Download
      </ActionButton>
      <ActionButton
        size="xs"
        variant="default"
        refusal={refusal(contract.files.delete)}
        onClick={() => setAsking('end')}
      >
        Delete
      </ActionButton>
      <Button size="xs" variant="subtle" color="gray" onClick={onAll}>
        Choose all
      </Button>
      <Button size="xs" variant="subtle" color="gray" onClick={onNone}>
        Choose none
      </Button>
      {bulk.error instanceof SomeFailed && (
        <Text size="sm" role="alert" w="100%">
          {bulk.error.message}
        </Text>
      )}
      {bulk.isError && !(bulk.error instanceof SomeFailed) && asking === null && <ProblemNotice error={bulk.error} />}
      {asking === 'place' && (
        <MoveDialog
          name={count}
          folders={folders}
          from={folderId}
          mutation={bulk}
          onMove={(folder) => each((id) => client.files.update({ params: { id }, body: { folder } }))}
          onClose={() => setAsking(null)}
        />
      )}
      {asking === 'end' && (
        <ConfirmDialog
          title={`Delete ${count}?`}
          submit={`Delete ${count}`}
          mutation={bulk}
          onConfirm={() => each((id) => client.files.delete({ params: { id }, query: { trashed: 'false' } }))}
          onClose={() => setAsking(null)}
        >
          They move to the trash of the project, with their comments. You can restore them there.
        </ConfirmDialog>
      )}
    </Group>
  );
}
