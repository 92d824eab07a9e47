import { Checkbox } from '@mantine/core';
import type { FileRecord, Folder } from '@review/contract';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { dragFiles } from '../folders/dragging.ts';
import type { ProjectRefusal } from '../projects/project-query.ts';
import type { Place } from '../ui/long-list.tsx';
import { MiddleTruncated } from '../ui/middle-truncated.tsx';
import type { Choose, DraggedWith } from './selection.ts';

const route = getRouteApi('/console/projects/$projectId/');

/** A file in the list or the grid of a project. */
export interface FileItemProps {
  file: FileRecord;
  folders: readonly Folder[];
  refusal: ProjectRefusal;
  isChosen: boolean;
  draggedWith: DraggedWith;
  onChoose: Choose;
}

interface DraggableFileProps extends Pick<FileItemProps, 'file' | 'isChosen' | 'draggedWith'> {
  place: Place;
  className: string | undefined;
  children: ReactNode;
}

/** The item of a file in a long list, which is dragged with all that are chosen. */
export const DraggableFile = ({ place, className, file, isChosen, draggedWith, children }: DraggableFileProps) => (
  <li
    {...place}
    className={className}
    data-chosen={isChosen || undefined}
    draggable
    onDragStart={(event) => dragFiles(event, draggedWith(file.id))}
  >
    {children}
  </li>
);

/** The name of a file, which leads to its page. The order of the list stays, for the previous and the next file. */
export function FileLink({
  file: { id, name },
  className,
}: Pick<FileItemProps, 'file'> & { className: string | undefined }) {
  const order = route.useSearch({ select: (search) => search.order });
  return (
    <Link
      to="/files/$fileId"
      params={{ fileId: id }}
      search={{ order }}
      className={className}
      aria-label={name}
      title={name}
    >
      <MiddleTruncated text={name} />
    </Link>
  );
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
