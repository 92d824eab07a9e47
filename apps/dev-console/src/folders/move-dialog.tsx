import { Radio, Stack } from '@mantine/core';
import type { Folder } from '@review/contract';
import { useState } from 'react';
import { FormDialog } from '../ui/form-dialog.tsx';
import { foldersIn } from './queries.ts';

interface MoveDialogProps {
  /** Name of the file or folder to move. */
  name: string;
  folders: readonly Folder[];
  /** The current parent folder. */
  from: string | null;
  /** The folder to move, if it is one: it cannot be moved into itself or a descendant. */
  without?: string;
  mutation: { isPending: boolean; error: Error | null };
  onMove: (folder: { id: string } | null) => void;
  onClose: () => void;
}

const ROOT = 'root';

export function MoveDialog({ name, folders, from, without, mutation, onMove, onClose }: MoveDialogProps) {
  const [to, setTo] = useState(from ?? ROOT);
  return (
    <FormDialog
      title={`Move “${name}”`}
      submit="Move here"
      mutation={mutation}
      missing={to === (from ?? ROOT) ? 'It is already there.' : null}
      onSubmit={() => onMove(to === ROOT ? null : { id: to })}
      onClose={onClose}
    >
      <Radio.Group label="To the folder" value={to} onChange={setTo}>
        <Stack gap={6} mt="xs" mah="50vh" style={{ overflow: 'auto' }}>
          <Radio value={ROOT} label="All files (no folder)" />
          <Branch folders={folders} parentId={null} depth={1} without={without} />
        </Stack>
      </Radio.Group>
    </FormDialog>
  );
}

interface BranchProps {
  folders: readonly Folder[];
  parentId: string | null;
  depth: number;
  without: string | undefined;
}

function Branch({ folders, parentId, depth, without }: BranchProps) {
  return foldersIn(folders, parentId)
    .filter(({ id }) => id !== without)
    .map(({ id, name }) => (
      <Stack key={id} gap={6}>
        <Radio value={id} label={name} ml={depth * 18} />
        <Branch folders={folders} parentId={id} depth={depth + 1} without={without} />
      </Stack>
    ));
}
