import { contract } from '@review/contract';
import { memo, useState } from 'react';
import { FilePanel, type Showing, type Sorting } from '../../comments/file-panel.tsx';
import { useRefusal } from '../../session/access.ts';
import { ForbiddenHint } from '../../ui/forbidden-hint.tsx';
import classes from './compare.module.css';
import type { Side } from './side.ts';

interface BothCommentsProps {
  sides: readonly [Side, Side];
  /** The position in both, in milliseconds; null for what has no time. */
  at: number | null;
  onJump: (at: number) => void;
}

/** The comments on both files, below them. New ones are at the shared position. */
export function BothComments({ sides, at, onJump }: BothCommentsProps) {
  const forbidden = useRefusal()(contract.comments.listOnFile);
  if (forbidden !== null) return <ForbiddenHint reason={forbidden} />;
  const [left, right] = sides;
  return (
    <div className={classes.sides}>
      {(left.id === right.id ? [left] : sides).map(
        ({ name, file }) =>
          file !== undefined && (
            <div key={name} className={classes.comments}>
              <SideComments
                key={file.id}
                label={`Comments on the ${name.toLowerCase()} file`}
                file={file}
                at={at}
                onJump={onJump}
              />
            </div>
          ),
      )}
    </div>
  );
}

interface SideCommentsProps {
  label: string;
  file: NonNullable<Side['file']>;
  at: number | null;
  onJump: (at: number) => void;
}

/** Rendered again only when the position has moved by what it shows. */
const SideComments = memo(function SideComments({ label, file, at, onJump }: SideCommentsProps) {
  const [thread, setThread] = useState<string | null>(null);
  const [arrangement, arrange] = useState<{ sort?: Sorting | undefined; show?: Showing | undefined }>({});
  return (
    <FilePanel
      label={label}
      file={file}
      at={at}
      onJump={onJump}
      thread={thread ?? undefined}
      onThread={setThread}
      sort={arrangement.sort}
      show={arrangement.show}
      onArrange={arrange}
    />
  );
});
