import { ActionIcon, Menu } from '@mantine/core';
import type { Folder } from '@review/contract';
import type { QueryKey } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useApiMutation } from '../api-mutation.ts';
import { ActionItem } from '../ui/action-item.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { NameDialog } from '../ui/name-dialog.tsx';
import { MoveDialog } from './move-dialog.tsx';

interface ItemMenuProps {
  kind: 'file' | 'folder';
  name: string;
  maxLength: number;
  folders: readonly Folder[];
  /** The current parent folder. */
  from: string | null;
  /** The folder itself, which cannot be moved into itself or a descendant. */
  without?: string;
  /** Why the item cannot be changed or deleted, or null. */
  refusals: { update: string | null; delete: string | null };
  invalidates: readonly QueryKey[];
  rename: (name: string) => Promise<void>;
  move: (to: { id: string } | null) => Promise<void>;
  remove: () => Promise<void>;
  /** What a deletion means. */
  warning: string;
  /** Whether another action is in progress. */
  isPending?: boolean;
  /** Actions before Rename. */
  before?: ReactNode;
  /** Actions between Move and Delete. */
  children?: ReactNode;
}

/** The menu of a file or folder: rename, move and delete, with their dialogs. */
export function ItemMenu({ kind, name, folders, from, refusals, invalidates, warning, ...props }: ItemMenuProps) {
  const [asking, setAsking] = useState<'name' | 'place' | 'end' | null>(null);
  const close = () => setAsking(null);
  const effects = { invalidates, onDone: close };
  const rename = useApiMutation(props.rename, effects);
  const move = useApiMutation(props.move, effects);
  const remove = useApiMutation(props.remove, effects);
  const called = kind === 'folder' ? 'the folder ' : '';
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            loading={props.isPending ?? false}
            aria-label={`Actions for ${called}${name}`}
          >
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {props.before}
          <ActionItem icon="pencil" refusal={refusals.update} onClick={() => setAsking('name')}>
            Rename
          </ActionItem>
          <ActionItem icon="folder" refusal={refusals.update} onClick={() => setAsking('place')}>
            Move
          </ActionItem>
          {props.children}
          <ActionItem icon="trash" danger refusal={refusals.delete} onClick={() => setAsking('end')}>
            Delete
          </ActionItem>
        </Menu.Dropdown>
      </Menu>
      {asking === 'name' && (
        <NameDialog
          title={`Rename the ${kind}`}
          submit="Rename"
          label="Name"
          maxLength={props.maxLength}
          initial={name}
          mutation={rename}
          onName={rename.mutate}
          onClose={close}
        />
      )}
      {asking === 'place' && (
        <MoveDialog
          name={name}
          folders={folders}
          from={from}
          {...(props.without !== undefined && { without: props.without })}
          mutation={move}
          onMove={move.mutate}
          onClose={close}
        />
      )}
      {asking === 'end' && (
        <ConfirmDialog
          title={`Delete ${called}“${name}”?`}
          submit={`Delete ${kind}`}
          mutation={remove}
          onConfirm={remove.mutate}
          onClose={close}
        >
          {warning}
        </ConfirmDialog>
      )}
    </>
  );
}
