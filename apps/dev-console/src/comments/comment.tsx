import { Avatar, Button, Group, Stack, Text, VisuallyHidden } from '@mantine/core';
import { type CommentRecord, contract, LEADS } from '@review/contract';
import { type ReactNode, useState } from 'react';
import { client } from '../api.ts';
import { AttachmentLinks } from '../attachments/attachment-links.tsx';
import { useMe } from '../members/me.ts';
import { useProject } from '../projects/project-query.ts';
import { Reactions, sendToggle, type Toggle, toggleReaction } from '../reactions/reactions.tsx';
import { useDesk } from '../review/desk.tsx';
import { shapesOf } from '../review/drawing/read-annotation.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { Icon } from '../ui/icon.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { Time } from '../ui/time.tsx';
import { type AnchorKind, placeText } from './anchor.ts';
import classes from './comment.module.css';
import { CommentMenu } from './comment-menu.tsx';
import { CommentText } from './comment-text.tsx';
import { EditComment } from './edit-comment.tsx';
import type { Audience } from './mentions.ts';
import { useCommentMutation } from './queries.ts';

/** Properties shared by all comments of a list. */
export interface CommentContext extends Audience {
  on: { project: string } | { file: string };
  anchorKind: AnchorKind;
  onJump?: (anchor: number) => void;
  /** The comments about the current moment. */
  active?: ReadonlySet<string>;
  /** The comment whose replies are expanded, from the URL. */
  thread?: string | undefined;
  onThread?: ((thread: string | null) => void) | undefined;
}

interface CommentProps {
  comment: CommentRecord;
  context: CommentContext;
  /** Absent for replies, which have no replies. */
  thread?: { isOpen: boolean; onUnfold: () => void; replies: ReactNode };
}

export function Comment({ comment, context, thread }: CommentProps) {
  const { id, author, content, anchor, resolvedAt, deletedAt, replies } = comment;
  const { refusal } = useProject(context.projectId);
  const desk = useDesk();
  const isDrawn = shapesOf(comment.annotation).length > 0;
  const [editing, setEditing] = useState(false);
  const resolve = useCommentMutation(
    id,
    (resolved: boolean) =>
      resolved ? client.comments.resolve({ params: { id } }) : client.comments.cancelResolve({ params: { id } }),
    (before, resolved) => ({ ...before, resolvedAt: resolved ? before.updatedAt : null }),
  );
  const remove = useCommentMutation(
    id,
    () => client.comments.delete({ params: { id } }),
    (before) => ({ ...before, deletedAt: before.updatedAt, content: null, author: null, attachments: [] }),
  );
  const react = useCommentMutation(
    id,
    (toggle: Toggle) => sendToggle(id, toggle),
    (before, { type }) => ({ ...before, reactions: toggleReaction(before.reactions, type) }),
  );
  const me = useMe(context.projectId);
  const { uneditable, undeletable } = useOwnership(comment, context.projectId, me);
  const unfold = thread && (replies.count > 0 || deletedAt === null) && (
    <Button size="compact-xs" variant="subtle" color="gray" aria-expanded={thread.isOpen} onClick={thread.onUnfold}>
      {replies.count === 0 ? 'Reply' : replies.count === 1 ? '1 reply' : `${replies.count} replies`}
    </Button>
  );
  return (
    <article
      className={classes.comment}
      id={`comment-${id}`}
      data-resolved={resolvedAt !== null || undefined}
      data-active={context.active?.has(id) || undefined}
      data-selected={desk?.selected === id || undefined}
      aria-label={author === null ? 'A deleted comment' : `Comment by ${author.name}`}
    >
      <Avatar src={author?.avatarUrl ?? null} name={author?.name ?? ''} color="gray" alt="" size={28} />
      <Stack gap={4} className={classes.body}>
        {deletedAt !== null ? (
          <Text size="sm" c="dimmed" fs="italic">
            This comment was deleted.
          </Text>
        ) : (
          <>
            <Group gap={6} justify="space-between" wrap="nowrap">
              <Text size="sm" component="div" className={classes.head}>
                <b>{author?.name}</b>{' '}
                <Text span size="xs" c="dimmed">
                  <Time at={comment.createdAt} />
                </Text>
                {resolvedAt !== null && (
                  <Text span size="xs" className={classes.resolved}>
                    <Icon name="check" size={12} /> resolved
                  </Text>
                )}
              </Text>
              <CommentMenu
                uneditable={uneditable}
                undeletable={undeletable}
                onEdit={() => setEditing(true)}
                onDelete={() => remove.mutate()}
              />
            </Group>
            {anchor === null && isDrawn && (
              <Button
                size="compact-xs"
                variant="light"
                className={classes.anchor}
                leftSection={<Icon name="pencil" size={12} />}
                aria-pressed={desk?.selected === id}
                onClick={() => desk?.select(desk.selected === id ? null : id)}
              >
                Drawing
              </Button>
            )}
            {anchor !== null && (
              <Button
                size="compact-xs"
                variant="light"
                className={classes.anchor}
                leftSection={<Icon name={context.anchorKind === 'page' ? 'document' : 'clock'} size={12} />}
                rightSection={isDrawn && <Icon name="pencil" size={12} />}
                onClick={() => {
                  desk?.select(id);
                  context.onJump?.(anchor);
                }}
              >
                {placeText(anchor, comment.duration, context.anchorKind)}
                {isDrawn && <VisuallyHidden>, with a drawing</VisuallyHidden>}
              </Button>
            )}
            {editing ? (
              <EditComment comment={comment} audience={context} onClose={() => setEditing(false)} />
            ) : (
              content !== null && (
                <Text dir="auto" component="div" className={classes.content}>
                  <CommentText text={content} mentions={comment.mentions} me={me} />
                </Text>
              )
            )}
            <AttachmentLinks attachments={comment.attachments} refusal={refusal(contract.attachments.download)} />
          </>
        )}
        <Group gap={6} mt={2}>
          {deletedAt === null && (
            <Reactions
              reactions={comment.reactions}
              refusal={refusal(contract.reactions.create)}
              onToggle={react.mutate}
            />
          )}
          {unfold}
          {thread && deletedAt === null && (
            <ActionButton
              size="compact-xs"
              variant="subtle"
              color="gray"
              refusal={refusal(contract.comments.resolve)}
              onClick={() => resolve.mutate(resolvedAt === null)}
            >
              {resolvedAt === null ? 'Resolve' : 'Open again'}
            </ActionButton>
          )}
        </Group>
        {resolve.isError && <ProblemNotice error={resolve.error} />}
        {react.isError && <ProblemNotice error={react.error} />}
        {remove.isError && <ProblemNotice error={remove.error} />}
        {thread?.isOpen && thread.replies}
      </Stack>
    </article>
  );
}

/** Why editing and deleting are not allowed, or null. If the user is unknown, both stay enabled and the API decides. */
function useOwnership({ author }: CommentRecord, projectId: string, me: string | null) {
  const { project, refusal } = useProject(projectId);
  const isMine = me === null || author?.id === me;
  const leads = project !== undefined && LEADS.some((role) => role === project.role);
  return {
    uneditable: refusal(contract.comments.update) ?? (isMine ? null : 'Only its author can edit a comment.'),
    undeletable:
      refusal(contract.comments.delete) ??
      (isMine || leads ? null : 'Its author, an owner or a manager can delete a comment.'),
  };
}
