import { contract, type FileRecord } from '@review/contract';
import { memo } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import type { Place } from '../ui/long-list.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import rows from '../ui/rows.module.css';
import { sizeOf } from '../ui/size.ts';
import { StatusBadge } from '../ui/status-badge.tsx';
import { StatusChoice } from '../ui/status-choice.tsx';
import { Time } from '../ui/time.tsx';
import { ChooseFile, DraggableFile, type FileItemProps, FileLink } from './file-item.tsx';
import { FileMenu } from './file-menu.tsx';
import { briefFacts } from './media/describe.ts';
import { Thumbnail } from './media/thumbnail.tsx';

export const FileRow = ({ place, ...props }: FileItemProps & { place: Place }) => (
  <DraggableFile place={place} className={rows.row} {...props}>
    <Content {...props} />
  </DraggableFile>
);

/** Rendered again only if one of its properties changes, and not while the list scrolls. */
const Content = memo(function Content({ file, folders, refusal, isChosen, onChoose }: FileItemProps) {
  const { id, name, status, tag, size } = file;
  const setTag = useApiMutation(
    (next: FileRecord['tag']) => client.files.setTag({ params: { id }, body: { tag: next } }),
    {
      invalidates: [['files']],
    },
  );
  const tagRefusal = refusal(contract.files.setTag);
  return (
    <>
      <ChooseFile file={file} isChosen={isChosen} onChoose={onChoose} />
      <Thumbnail file={file} />
      <div className={rows.main}>
        <FileLink file={file} className={rows.name} />
        <div className={rows.detail}>
          {file.media !== null && briefFacts(file.media).map((fact) => `${fact} · `)}
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
    </>
  );
});
