import { Checkbox } from '@mantine/core';
import { contract, type FileRecord, type Folder } from '@review/contract';
import { Link } from '@tanstack/react-router';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import type { ProjectRefusal } from '../projects/project-query.ts';
import { Icon } from '../ui/icon.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import rows from '../ui/rows.module.css';
import { sizeOf } from '../ui/size.ts';
import { StatusBadge } from '../ui/status-badge.tsx';
import { StatusChoice } from '../ui/status-choice.tsx';
import { Time } from '../ui/time.tsx';
import { FileMenu } from './file-menu.tsx';
import { iconOf } from './kind.ts';

interface FileRowProps {
  file: FileRecord;
  folders: readonly Folder[];
  refusal: ProjectRefusal;
  chosen: boolean;
  onChoose: (chosen: boolean) => void;
}

export function FileRow({ file, folders, refusal, chosen, onChoose }: FileRowProps) {
  const { id, name, status, tag, size } = file;
  const setTag = useApiMutation(
    (next: FileRecord['tag']) => client.files.setTag({ params: { id }, body: { tag: next } }),
    {
      invalidates: [['files']],
    },
  );
  const tagRefusal = refusal(contract.files.setTag);
  return (
    <li className={rows.row} data-chosen={chosen || undefined}>
      <Checkbox aria-label={`Choose ${name}`} checked={chosen} onChange={({ target }) => onChoose(target.checked)} />
      <Icon name={iconOf(file)} />
      <div className={rows.main}>
        <Link to="/files/$fileId" params={{ fileId: id }} className={rows.name}>
          {name}
        </Link>
        <div className={rows.detail}>
          {size !== null && `${sizeOf(size)} · `}
          {file.generation !== null && `${file.generation.outputModel} · `}
          <Time at={file.createdAt} />
          {file.allowRestricted && ' · open to restricted reviewers'}
        </div>
        {setTag.isError && <ProblemNotice error={setTag.error} />}
      </div>
      <div className={rows.side}>
        {status === 'UPLOADED' ? (
          <StatusChoice of={name} current={tag} refusal={() => tagRefusal} mutation={setTag} />
        ) : (
          <StatusBadge status={status} />
        )}
        <FileMenu file={file} folders={folders} refusal={refusal} />
      </div>
    </li>
  );
}
