import { contract, type Folder } from '@review/contract';
import { Link } from '@tanstack/react-router';
import { type DragEvent, useState } from 'react';
import { client } from '../api.ts';
import { maxLengthOf } from '../bounds.ts';
import type { ProjectRefusal } from '../projects/project-query.ts';
import type { Place } from '../ui/long-list.tsx';
import rows from '../ui/rows.module.css';
import { Tile } from '../ui/tile.tsx';
import { Time } from '../ui/time.tsx';
import { carriesFiles, droppedFiles } from './dragging.ts';
import { ItemMenu } from './item-menu.tsx';

interface FolderRowProps {
  projectId: string;
  folder: Folder;
  folders: readonly Folder[];
  refusal: ProjectRefusal;
  /** Moves files of the list that are dropped here. */
  onFiles: (ids: string[], to: { id: string }) => void;
  place: Place;
}

export function FolderRow({ projectId, folder, folders, refusal, onFiles, place }: FolderRowProps) {
  const [isOver, setOver] = useState(false);
  const accepts = (event: DragEvent) => carriesFiles(event) && refusal(contract.files.update) === null;
  const params = { id: folder.id };
  return (
    <li
      {...place}
      className={rows.row}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        if (!accepts(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!accepts(event)) return;
        event.preventDefault();
        onFiles(droppedFiles(event), params);
      }}
    >
      <Tile icon="folder" />
      <div className={rows.main}>
        <Link to="/projects/$projectId" params={{ projectId }} search={{ folder: folder.id }} className={rows.name}>
          {folder.name}
        </Link>
        <div className={rows.detail}>
          Folder · <Time at={folder.createdAt} />
        </div>
      </div>
      <ItemMenu
        kind="folder"
        name={folder.name}
        maxLength={maxLengthOf(contract.folders.update.body.shape.name)}
        folders={folders}
        from={folder.parent?.id ?? null}
        without={folder.id}
        refusals={{ update: refusal(contract.folders.update), delete: refusal(contract.folders.delete) }}
        invalidates={[['folders', projectId]]}
        rename={(name) => client.folders.update({ params, body: { name } })}
        move={(parent) => client.folders.update({ params, body: { parent } })}
        remove={() => client.folders.delete({ params })}
        warning="Only an empty folder can be deleted: move or delete what is in it first."
      />
    </li>
  );
}
