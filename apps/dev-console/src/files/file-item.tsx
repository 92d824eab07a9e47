import { Checkbox } from '@mantine/core';
import type { FileRecord, Folder } from '@review/contract';
import type { ProjectRefusal } from '../projects/project-query.ts';
import type { Choose, DraggedWith } from './selection.ts';

/** A file in the list or the grid of a project. */
export interface FileItemProps {
  file: FileRecord;
  folders: readonly Folder[];
  refusal: ProjectRefusal;
  isChosen: boolean;
  draggedWith: DraggedWith;
  onChoose: Choose;
}

/** Chooses a file, or with shift all up to it. */
export const ChooseFile = ({
  file: { id, name },
  isChosen,
  onChoose,
  className,
}: Pick<FileItemProps, 'file' | 'isChosen' | 'onChoose'> & { className?: string | undefined }) => (
  <Checkbox
    className={className}
    aria-label={`Choose ${name}`}
    checked={isChosen}
    onChange={({ target, nativeEvent }) =>
      onChoose(id, target.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
    }
  />
);
