import { contract, type Folder } from '@review/contract';
import { Link } from '@tanstack/react-router';
import { client } from '../api.ts';
import { maxLengthOf } from '../bounds.ts';
import type { ProjectRefusal } from '../projects/project-query.ts';
import { Icon } from '../ui/icon.tsx';
import rows from '../ui/rows.module.css';
import { Time } from '../ui/time.tsx';
import { ItemMenu } from './item-menu.tsx';

interface FolderRowProps {
  projectId: string;
  folder: Folder;
  folders: readonly Folder[];
  refusal: ProjectRefusal;
}

export function FolderRow({ projectId, folder, folders, refusal }: FolderRowProps) {
  const params = { id: folder.id };
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
