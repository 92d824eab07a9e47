import { contract, type FileRecord, type Folder } from '@review/contract';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { maxLengthOf } from '../bounds.ts';
import { ItemMenu } from '../folders/item-menu.tsx';
import type { ProjectRefusal } from '../projects/project-query.ts';
import { ActionItem } from '../ui/action-item.tsx';
import { save } from '../ui/save.ts';
import { ExportItems } from './export-items.tsx';
import { isOpen } from './queries.ts';

interface FileMenuProps {
  file: FileRecord;
  folders: readonly Folder[];
  refusal: ProjectRefusal;
}

const NOT_READY = 'It can be downloaded once it is ready.';

export function FileMenu({ file, folders, refusal }: FileMenuProps) {
  const params = { id: file.id };
  const invalidates = [['files'], ['runs', file.project.id]];
  const allowRestricted = !file.allowRestricted;
  const restrict = useApiMutation(() => client.files.update({ params, body: { allowRestricted } }), { invalidates });
  const cancel = useApiMutation(() => client.files.cancel({ params }), { invalidates });
  const download = useApiMutation(async () => save((await client.files.download({ params })).data.url, file.name), {
    invalidates: [],
  });
  const unchangeable = refusal(contract.files.update);
  return (
    <ItemMenu
      kind="file"
      name={file.name}
      maxLength={maxLengthOf(contract.files.update.body.shape.name)}
      folders={folders}
      from={file.folder?.id ?? null}
      refusals={{ update: unchangeable, delete: refusal(contract.files.delete) }}
      invalidates={invalidates}
      rename={(name) => client.files.update({ params, body: { name } })}
      move={(folder) => client.files.update({ params, body: { folder } })}
      remove={() => client.files.delete({ params, query: { trashed: 'false' } })}
      warning="It moves to the trash of the project, with its comments. You can restore it there."
      isPending={download.isPending || cancel.isPending}
      before={
        <ActionItem
          icon="download"
          refusal={refusal(contract.files.download) ?? (file.status === 'UPLOADED' ? null : NOT_READY)}
          onClick={download.mutate}
        >
          Download
        </ActionItem>
      }
    >
      <ActionItem icon="people" refusal={unchangeable} onClick={restrict.mutate}>
        {file.allowRestricted ? 'Hide from restricted reviewers' : 'Show to restricted reviewers'}
      </ActionItem>
      <ExportItems file={file} refusal={refusal} />
      {isOpen(file) && (
        <ActionItem icon="stop" refusal={refusal(contract.files.cancel)} onClick={cancel.mutate}>
          {file.status === 'UPLOADING' ? 'Cancel the upload' : 'Cancel the generation'}
        </ActionItem>
      )}
    </ItemMenu>
  );
}
