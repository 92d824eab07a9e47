import { contract, type FileDetails } from '@review/contract';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import { FilePanel } from '../comments/file-panel.tsx';
import { useRefusal } from '../session/access.ts';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import classes from './page.module.css';

const route = getRouteApi('/console/files/$fileId');

interface FileSideProps {
  file: FileDetails;
  at: number | null;
  onJump: (at: number) => void;
}

/** The comments beside a file. The URL has their order and the open thread. */
export function FileSide({ file, at, onJump }: FileSideProps) {
  const forbidden = useRefusal()(contract.comments.listOnFile);
  const { thread, sort, show } = route.useSearch();
  const navigate = route.useNavigate();
  const change = useCallback(
    (difference: Partial<ReturnType<typeof route.useSearch>>) =>
      void navigate({ search: (now) => ({ ...now, ...difference }), replace: true, resetScroll: false }),
    [navigate],
  );
  const openThread = useCallback((next: string | null) => change({ thread: next ?? undefined }), [change]);
  return (
    <aside className={classes.side} aria-label="About this file">
      {forbidden !== null ? (
        <ForbiddenHint reason={forbidden} />
      ) : (
        <FilePanel
          file={file}
          at={at}
          onJump={onJump}
          thread={thread}
          onThread={openThread}
          sort={sort}
          show={show}
          onArrange={change}
        />
      )}
    </aside>
  );
}
