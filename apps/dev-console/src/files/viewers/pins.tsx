import { items } from '@review/client';
import { type CommentRecord, contract } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../api.ts';
import { useRefusal } from '../../session/access.ts';
import classes from './viewers.module.css';

type Pinned = CommentRecord & { anchor: number };
const isPinned = (comment: CommentRecord): comment is Pinned => comment.anchor !== null && comment.deletedAt === null;

interface PinsProps {
  fileId: string;
  durationMs: number;
  onJump: (at: number) => void;
}

/** The comments with a time anchor, at their position on the timeline. */
export function Pins({ fileId, durationMs, onJump }: PinsProps) {
  const forbidden = useRefusal()(contract.comments.listOnFile);
  const { data: pinned } = useQuery({
    queryKey: ['comments', 'file', fileId, 'pins'],
    enabled: forbidden === null,
    refetchInterval: 15_000,
    queryFn: async ({ signal }) => {
      const newestFirst = { sort: { type: 'createdAt', direction: 'desc' } } as const;
      const request = { params: { id: fileId }, body: newestFirst };
      const found: Pinned[] = [];
      for await (const comment of items(client.comments.listOnFile, request, { signal })) {
        if (isPinned(comment)) found.push(comment);
      }
      return found;
    },
  });
  return pinned?.map(({ id, anchor, content, author, resolvedAt }) => {
    const label = `${author?.name ?? 'Unknown author'} at ${(anchor / 1000).toFixed(1)} s: ${content ?? 'an attachment'}`;
    return (
      <button
        key={id}
        type="button"
        className={classes.pin}
        style={{ left: `calc(0.75rem + (100% - 1.5rem) * ${Math.min(1, anchor / durationMs)})` }}
        data-resolved={resolvedAt === null ? undefined : true}
        title={label}
        aria-label={label}
        onClick={() => onJump(anchor)}
      />
    );
  });
}
