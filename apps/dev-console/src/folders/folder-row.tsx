import { ActionIcon, Menu } from '@mantine/core';
import type { RequestOf } from '@review/client';
import { contract, type Folder } from '@review/contract';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { maxLengthOf } from '../bounds.ts';
import type { ProjectRefusal } from '../projects/project-query.ts';
import { ActionItem } from '../ui/action-item.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { NameDialog } from '../ui/name-dialog.tsx';
import rows from '../ui/rows.module.css';
import { Time } from '../ui/time.tsx';
import { MoveDialog } from './move-dialog.tsx';

interface FolderRowProps {
  projectId: string;
  folder: Folder;
  folders: readonly Folder[];
  refusal: ProjectRefusal;
}

export function FolderRow({ projectId, folder, folders, refusal }: FolderRowProps) {
  const [asking, setAsking] = useState<'name' | 'place' | 'end' | null>(null);
  const close = () => setAsking(null);
  const params = { id: folder.id };
  const effects = { invalidates: [['folders', projectId]], onDone: close };
  const update = useApiMutation(
    (body: RequestOf<typeof contract.folders.update>['body']) => client.folders.update({ params, body }),
    effects,
  );
  const remove = useApiMutation(() => client.folders.delete({ params }), effects);
  const unchangeable = refusal(contract.folders.update);
  return (
    <li className={rows.row}>
      <Icon name="folder" />
      <div className={rows.main}>
        <Link to="/projects/$projectId" params={{ projectId }} search={{ folder: folder.id }} className={rows.name}>
          {folder.name}
        </Link>
        <div className={rows.detail}>
          Folder · <Time at={folder.createdAt} />
        </div>
      </div>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`Actions for the folder ${folder.name}`}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <ActionItem icon="pencil" refusal={unchangeable} onClick={() => setAsking('name')}>
            Rename
          </ActionItem>
          <ActionItem icon="folder" refusal={unchangeable} onClick={() => setAsking('place')}>
            Move
          </ActionItem>
          <ActionItem icon="trash" danger refusal={refusal(contract.folders.delete)} onClick={() => setAsking('end')}>
            Delete
          </ActionItem>
        </Menu.Dropdown>
      </Menu>
      {asking === 'name' && (
        <NameDialog
          title="Rename the folder"
          submit="Rename"
          label="Name"
          maxLength={maxLengthOf(contract.folders.update.body.shape.name)}
          initial={folder.name}
          mutation={update}
          onName={(name) => update.mutate({ name })}
          onClose={close}
        />
      )}
      {asking === 'place' && (
        <MoveDialog
          name={folder.name}
          folders={folders}
          from={folder.parent?.id ?? null}
          without={folder.id}
          mutation={update}
          onMove={(parent) => update.mutate({ parent })}
          onClose={close}
        />
      )}
      {asking === 'end' && (
        <ConfirmDialog
          title={`Delete the folder “${folder.name}”?`}
          submit="Delete folder"
          mutation={remove}
          onConfirm={remove.mutate}
          onClose={close}
        >
          Only an empty folder can be deleted: move or delete what is in it first.
        </ConfirmDialog>
      )}
    </li>
  );
}
