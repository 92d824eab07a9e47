import { Title } from '@mantine/core';
import { contract, type FileRecord } from '@review/contract';
import { getRouteApi } from '@tanstack/react-router';
import { FileComments } from '../comments/thread-list.tsx';
import { OUTPUTS } from '../models/queries.ts';
import { useRefusal } from '../session/access.ts';
import { CopyableText } from '../ui/copyable-text.tsx';
import { Facts } from '../ui/facts.tsx';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import { sizeOf } from '../ui/size.ts';
import { Time } from '../ui/time.tsx';
import classes from './page.module.css';

const route = getRouteApi('/console/files/$fileId');

interface FileSideProps {
  file: FileRecord;
  at: number | null;
  onJump: (at: number) => void;
}

/** The side panel of a file: comments and properties. */
export function FileSide({ file, at, onJump }: FileSideProps) {
  const forbidden = useRefusal()(contract.comments.listOnFile);
  const { thread } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <aside className={classes.side} aria-label="About this file">
      {forbidden !== null && <ForbiddenHint reason={forbidden} />}
      {forbidden === null && (
        <FileComments
          file={file}
          anchor={at}
          onJump={onJump}
          thread={thread}
          onThread={(next) =>
            void navigate({
              search: (now) => ({ ...now, thread: next ?? undefined }),
              replace: true,
              resetScroll: false,
            })
          }
        />
      )}
      <section className="card">
        <Title order={2} mb="md">
          Details
        </Title>
        <Facts
          of={[
            ['File', <CopyableText key="id" text={file.id} label="the file id" />],
            ['Kind', file.generation === null ? 'Upload' : OUTPUTS[file.generation.outputType].label],
            ['Type', file.mimeType],
            ['Size', file.size !== null && sizeOf(file.size)],
            ['About', file.description],
            ['Made', <Time key="made" at={file.createdAt} />],
            ['Changed', <Time key="changed" at={file.updatedAt} />],
            ['SHA-256', file.sha256 && <CopyableText text={file.sha256} label="the checksum" />],
          ]}
        />
      </section>
    </aside>
  );
}
