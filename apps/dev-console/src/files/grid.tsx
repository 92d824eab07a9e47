import type { FileRecord, Folder } from '@review/contract';
import { memo } from 'react';
import type { ProjectRefusal } from '../projects/project-query.ts';
import { Icon } from '../ui/icon.tsx';
import { LongList, type Place } from '../ui/long-list.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { ChooseFile, DraggableFile, type FileItemProps, FileLink } from './file-item.tsx';
import { FileMenu } from './file-menu.tsx';
import classes from './grid.module.css';
import { iconOf } from './kind.ts';
import { briefFacts } from './media/describe.ts';
import { Picture } from './media/thumbnail.tsx';
import type { Choose, DraggedWith } from './selection.ts';

interface FileGridProps {
  files: readonly FileRecord[];
  folders: readonly Folder[];
  refusal: ProjectRefusal;
  isChosen: (id: string) => boolean;
  draggedWith: DraggedWith;
  onChoose: Choose;
}

/** Files as pictures. */
export function FileGrid({ files, folders, refusal, isChosen, draggedWith, onChoose }: FileGridProps) {
  return (
    <LongList label="Files" className={classes.grid} items={files}>
      {(file, place) => (
        <FileCard
          key={file.id}
          place={place}
          file={file}
          folders={folders}
          refusal={refusal}
          isChosen={isChosen(file.id)}
          draggedWith={draggedWith}
          onChoose={onChoose}
        />
      )}
    </LongList>
  );
}

const FileCard = ({ place, ...props }: FileItemProps & { place: Place }) => (
  <DraggableFile place={place} className={classes.card} {...props}>
    <Content {...props} />
  </DraggableFile>
);

/** Rendered again only if one of its properties changes, and not while the grid scrolls. */
const Content = memo(function Content({ file, folders, refusal, isChosen, onChoose }: FileItemProps) {
  const { status, tag, media } = file;
  return (
    <>
      <div className={classes.picture}>
        <Icon name={iconOf(file)} size={28} />
        <Picture url={file.thumbnailUrl} placeholder={media?.placeholder ?? null} />
        {media !== null && <span className={classes.facts}>{briefFacts(media).join(' · ')}</span>}
      </div>
      <ChooseFile className={classes.check} file={file} isChosen={isChosen} onChoose={onChoose} />
      <div className={classes.foot}>
        <FileLink file={file} className={classes.name} />
        <FileMenu file={file} folders={folders} refusal={refusal} />
      </div>
      <div className={classes.status}>
        <StatusBadge status={status === 'UPLOADED' ? tag : status} />
      </div>
    </>
  );
});
