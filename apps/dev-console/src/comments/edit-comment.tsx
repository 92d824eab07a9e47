import { Button, Group, Stack, Textarea } from '@mantine/core';
import { type CommentRecord, contract } from '@review/contract';
import { useState } from 'react';
import { client } from '../api.ts';
import { maxLengthOf } from '../bounds.ts';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { useCommentMutation } from './queries.ts';

export function EditComment({ comment, onClose }: { comment: CommentRecord; onClose: () => void }) {
  const [content, setContent] = useState(comment.content ?? '');
  const edit = useCommentMutation(
    comment.id,
    (words: string) => client.comments.update({ params: { id: comment.id }, body: { content: words } }),
    (before, words) => ({ ...before, content: words }),
  );
  const save = () => edit.mutate(content.trim(), { onSuccess: onClose });
  return (
    <Stack gap="xs">
      <Textarea
        aria-label="Edit the comment"
        autosize
        minRows={2}
        maxRows={12}
        maxLength={maxLengthOf(contract.comments.update.body.shape.content)}
        autoFocus
        value={content}
        onChange={({ target }) => setContent(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose();
        }}
      />
      {edit.isError && <ProblemNotice error={edit.error} />}
      <Group gap="xs">
        <Button size="compact-sm" loading={edit.isPending} disabled={content.trim() === ''} onClick={save}>
          Save
        </Button>
        <Button size="compact-sm" variant="default" onClick={onClose}>
          Cancel
        </Button>
      </Group>
    </Stack>
  );
}
