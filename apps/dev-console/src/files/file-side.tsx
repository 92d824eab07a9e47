import { contract, type FileDetails } from '@review/contract';
import { getRouteApi } from '@tanstack/react-router';
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
  const change = (difference: Partial<ReturnType<typeof route.useSearch>>) =>
    void navigate({ search: (now) => ({ ...now, ...difference }), replace: true, resetScroll: false });
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
          onThread={(next) => change({ thread: next ?? undefined })}
          sort={sort}
          show={show}
          onArrange={change}
        />
      )}
    </aside>
  );
}
