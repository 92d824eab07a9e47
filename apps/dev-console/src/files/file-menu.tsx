import { ActionIcon, Menu } from '@mantine/core';
import type { RequestOf } from '@review/client';
import { contract, type FileRecord, type Folder } from '@review/contract';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { maxLengthOf } from '../bounds.ts';
import { MoveDialog } from '../folders/move-dialog.tsx';
import type { ProjectRefusal } from '../projects/project-query.ts';
import { ActionItem } from '../ui/action-item.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { NameDialog } from '../ui/name-dialog.tsx';
import { save } from '../ui/save.ts';
import { isOpen } from './queries.ts';

interface FileMenuProps {
  file: FileRecord;
  folders: readonly Folder[];
  refusal: ProjectRefusal;
}

const NOT_READY = 'It can be downloaded once it is ready.';

export function FileMenu({ file, folders, refusal }: FileMenuProps) {
  const [asking, setAsking] = useState<'name' | 'place' | 'end' | null>(null);
  const close = () => setAsking(null);
  const params = { id: file.id };
  const effects = { invalidates: [['files'], ['runs', file.project.id]], onDone: close };
  const update = useApiMutation(
    (body: RequestOf<typeof contract.files.update>['body']) => client.files.update({ params, body }),
    effects,
  );
  const remove = useApiMutation(() => client.files.delete({ params }), effects);
  const cancel = useApiMutation(() => client.files.cancel({ params }), effects);
  const download = useApiMutation(async () => save((await client.files.download({ params })).data.url, file.name), {
    invalidates: [],
  });
  const unchangeable = refusal(contract.files.update);
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            loading={download.isPending || cancel.isPending}
            aria-label={`Actions for ${file.name}`}
          >
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <ActionItem
            icon="download"
            refusal={refusal(contract.files.download) ?? (file.status === 'UPLOADED' ? null : NOT_READY)}
            onClick={download.mutate}
          >
            Download
          </ActionItem>
          <ActionItem icon="pencil" refusal={unchangeable} onClick={() => setAsking('name')}>
            Rename
          </ActionItem>
          <ActionItem icon="folder" refusal={unchangeable} onClick={() => setAsking('place')}>
            Move
          </ActionItem>
          <ActionItem
            icon="people"
            refusal={unchangeable}
            onClick={() => update.mutate({ allowRestricted: !file.allowRestricted })}
          >
            {file.allowRestricted ? 'Hide from restricted reviewers' : 'Show to restricted reviewers'}
          </ActionItem>
          {isOpen(file) && (
            <ActionItem icon="stop" refusal={refusal(contract.files.cancel)} onClick={cancel.mutate}>
              {file.status === 'UPLOADING' ? 'Cancel the upload' : 'Cancel the generation'}
            </ActionItem>
          )}
          <ActionItem icon="trash" danger refusal={refusal(contract.files.delete)} onClick={() => setAsking('end')}>
            Delete
          </ActionItem>
        </Menu.Dropdown>
      </Menu>
      {asking === 'name' && (
        <NameDialog
          title="Rename the file"
          submit="Rename"
          label="Name"
          maxLength={maxLengthOf(contract.files.update.body.shape.name)}
          initial={file.name}
          mutation={update}
          onName={(name) => update.mutate({ name })}
          onClose={close}
        />
      )}
      {asking === 'place' && (
        <MoveDialog
          name={file.name}
          folders={folders}
          from={file.folder?.id ?? null}
          mutation={update}
          onMove={(folder) => update.mutate({ folder })}
          onClose={close}
        />
      )}
      {asking === 'end' && (
        <ConfirmDialog
          title={`Delete “${file.name}”?`}
          submit="Delete file"
          mutation={remove}
          onConfirm={remove.mutate}
          onClose={close}
        >
          Its comments are deleted too, and it is removed from all versions. This cannot be undone.
        </ConfirmDialog>
      )}
    </>
  );
}
