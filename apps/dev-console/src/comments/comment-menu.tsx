import { ActionIcon, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ActionItem } from '../ui/action-item.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { Icon } from '../ui/icon.tsx';

interface CommentMenuProps {
  uneditable: string | null;
  undeletable: string | null;
  onEdit: () => void;
  onDelete: () => void;
}

export function CommentMenu({ uneditable, undeletable, onEdit, onDelete }: CommentMenuProps) {
  const [asking, dialog] = useDisclosure(false);
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="sm" aria-label="Actions for this comment">
            <Icon name="more" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <ActionItem icon="pencil" refusal={uneditable} onClick={onEdit}>
            Edit
          </ActionItem>
          <ActionItem icon="trash" danger refusal={undeletable} onClick={dialog.open}>
            Delete
          </ActionItem>
        </Menu.Dropdown>
      </Menu>
      {asking && (
        <ConfirmDialog
          title="Delete this comment?"
          submit="Delete comment"
          mutation={{ isPending: false, error: null }}
          onConfirm={() => {
            dialog.close();
            onDelete();
          }}
          onClose={dialog.close}
        >
          Its text and attachments are deleted permanently. Replies to it stay.
        </ConfirmDialog>
      )}
    </>
  );
}
