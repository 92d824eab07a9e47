import { Skeleton, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { contract, type FileRecord } from '@review/contract';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../api.ts';
import { maxLengthOf } from '../bounds.ts';
import { Thumbnail } from '../files/media/thumbnail.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { sizeOf } from '../ui/size.ts';
import classes from './attachments.module.css';
import { carryFile } from './dropped.ts';

interface ProjectFilesProps {
  project: string;
  chosen: readonly string[];
  onPick: (file: FileRecord) => void;
}

/** The files of the project that have content, newest first. Each can be clicked or dragged. */
export function ProjectFiles({ project, chosen, onPick }: ProjectFilesProps) {
  const [text, setText] = useState('');
  const [keyword] = useDebouncedValue(text.trim(), 200);
  const files = useQuery({
    queryKey: ['files', 'ready', project, keyword],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const body = { status: 'UPLOADED' as const, ...(keyword !== '' && { keyword }) };
      return (await client.files.list({ params: { id: project }, body }, { signal })).data;
    },
  });
  return (
    <>
      <TextInput
        aria-label="Search the files"
        placeholder="Search by name"
        maxLength={maxLengthOf(contract.files.list.body.shape.keyword)}
        data-autofocus
        value={text}
        onChange={(event) => setText(event.target.value)}
        mb="xs"
      />
      {files.isError && <ProblemNotice error={files.error} onRetry={() => void files.refetch()} />}
      {files.isPending && <Skeleton h={120} />}
      <div className={classes.files}>
        {files.data?.map((file) => (
          <UnstyledButton
            key={file.id}
            className={classes.file}
            disabled={chosen.includes(file.id)}
            draggable
            onDragStart={(event) => carryFile(event, file.id)}
            onClick={() => onPick(file)}
          >
            <Thumbnail file={file} />
            <Text size="sm" truncate flex={1}>
              {file.name}
            </Text>
            <Text size="xs" c="dimmed">
              {file.size !== null && sizeOf(file.size)}
            </Text>
          </UnstyledButton>
        ))}
      </div>
      {files.data?.length === 0 && (
        <Text size="sm" c="dimmed">
          No file matches. Only files whose upload or generation is done can be attached.
        </Text>
      )}
    </>
  );
}
