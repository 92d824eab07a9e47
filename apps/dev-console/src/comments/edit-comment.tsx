import { Button, Group, Stack } from '@mantine/core';
import { type CommentRecord, contract } from '@review/contract';
import { useState } from 'react';
import { client } from '../api.ts';
import { maxLengthOf } from '../bounds.ts';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { MentionField } from './mention-field.tsx';
import { type Audience, editableText, useMentionWriter } from './mentions.ts';
import { useCommentMutation } from './queries.ts';

interface EditCommentProps {
  comment: CommentRecord;
  audience: Audience;
  onClose: () => void;
}

export function EditComment({ comment, audience, onClose }: EditCommentProps) {
  const { mentions } = comment;
  const [content, setContent] = useState(() => editableText(comment.content ?? '', mentions));
  const write = useMentionWriter(audience);
  const edit = useCommentMutation(
    comment.id,
    async (words: string) =>
      client.comments.update({ params: { id: comment.id }, body: { content: await write(words, mentions) } }),
    (before, words) => ({ ...before, content: words }),
  );
  const save = () => edit.mutate(content.trim(), { onSuccess: onClose });
  return (
    <Stack gap="xs">
      <MentionField
        audience={audience}
        aria-label="Edit the comment"
        autosize
        minRows={2}
        maxRows={12}
        maxLength={maxLengthOf(contract.comments.update.body.shape.content)}
        autoFocus
        value={content}
        onValue={setContent}
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
