import { ActionIcon, Button, Checkbox, FileButton, Group, Stack, Text } from '@mantine/core';
import { contract } from '@review/contract';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { NewAttachments } from '../attachments/new-attachments.tsx';
import { useNewAttachments } from '../attachments/use-new-attachments.ts';
import { maxLengthOf } from '../bounds.ts';
import { useDesk } from '../review/desk.tsx';
import { NO_MARKS, useDraftText } from '../review/draft.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import { Icon } from '../ui/icon.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { type AnchorKind, placeText } from './anchor.ts';
import classes from './composer.module.css';
import { MentionField } from './mention-field.tsx';
import type { Audience } from './mentions.ts';
import type { Draft } from './posting.ts';

interface ComposerProps {
  /** "Comment" or "Reply". */
  label: string;
  on: { project: string } | { file: string };
  audience: Audience;
  /** The comment that is replied to. */
  replyTo?: string;
  /** The current position of the viewer. */
  anchor: number | null;
  anchorKind: AnchorKind;
  refusal: string | null;
  onSend: (draft: Draft, onStored: () => void) => Promise<void>;
}

/**
 * An input for comments. The text is kept until it is sent. On the desk of a file, writing pauses the viewer, and the
 * comment stays at that position. Sending clears the input at once; a failed request restores it and shows the error.
 */
export function Composer({ label, on, audience, replyTo, anchor, anchorKind, refusal, onSend }: ComposerProps) {
  const [content, setContent, hold] = useDraftText(replyTo ?? Object.values(on).join(''));
  const [pinned, setPinned] = useState(true);
  const [error, setError] = useState<unknown>(null);
  const attachments = useNewAttachments(on);
  const shared = useDesk();
  const desk = replyTo === undefined ? shared : null;
  const marks = desk?.marks ?? NO_MARKS;
  const isUntouched = content.trim() === '' && marks.shapes.length === 0 && marks.duration === null;
  /** Whether the position was kept only because the input got the focus. */
  const isProvisional = useRef(isUntouched);
  const at = anchorKind === null ? null : (marks.anchor ?? anchor);

  function release() {
    if (isProvisional.current && isUntouched) desk?.setMarks(() => NO_MARKS);
  }
  // A reload while the empty input had the focus.
  const onMount = useEffectEvent(release);
  useEffect(() => onMount(), []);
  if (refusal !== null) return <ForbiddenHint reason={refusal} />;

  const isEmpty = content.trim() === '' && attachments.ready.length === 0 && marks.shapes.length === 0;
  const missing = isEmpty
    ? 'Write something, draw or attach a file.'
    : attachments.isBusy
      ? 'An attachment is still being uploaded.'
      : null;
  async function send() {
    if (missing !== null) return;
    const draft = {
      content: content.trim(),
      attachments: attachments.ready,
      anchor: pinned ? at : null,
      duration: pinned ? marks.duration : null,
      shapes: marks.shapes,
    };
    setError(null);
    hold(true);
    desk?.holdMarks(true);
    setContent('');
    desk?.setTool(null);
    desk?.setMarks(() => NO_MARKS);
    const giveBack = attachments.take();
    const letGo = () => {
      hold(false);
      desk?.holdMarks(false);
    };
    try {
      await onSend(draft, letGo);
    } catch (problem) {
      setContent((typed) => typed || draft.content);
      desk?.setMarks((now) => (now === NO_MARKS ? marks : now));
      giveBack();
      setError(problem);
      letGo();
    }
  }

  return (
    <Stack gap={6} className={classes.composer}>
      <MentionField
        ref={desk?.composer}
        audience={audience}
        aria-label={label}
        placeholder={label === 'Reply' ? 'Reply…' : 'Write a comment…'}
        variant="unstyled"
        autosize
        minRows={label === 'Reply' ? 1 : 2}
        maxRows={10}
        maxLength={maxLengthOf(contract.comments.create.body.shape.content)}
        value={content}
        onValue={setContent}
        onPaste={(event) => {
          const files = [...event.clipboardData.files];
          if (files.length > 0) event.preventDefault();
          attachments.add(files);
        }}
        onFocus={() => {
          if (desk === null || marks.anchor !== null) return;
          isProvisional.current = true;
          desk.freeze();
        }}
        onBlur={release}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
        }}
      />
      <NewAttachments attachments={attachments} />
      {error !== null && <ProblemNotice error={error} />}
      <Group gap="xs" justify="space-between">
        <Group gap="xs">
          <FileButton
            multiple
            onChange={attachments.add}
            inputProps={{ 'aria-label': `Files for the ${label.toLowerCase()}` }}
          >
            {(props) => (
              <ActionIcon {...props} variant="subtle" color="gray" aria-label="Attach files">
                <Icon name="paperclip" />
              </ActionIcon>
            )}
          </FileButton>
          {at !== null && (
            <Checkbox
              size="xs"
              label={
                <span className="numbers">
                  {anchorKind === 'time' ? 'at ' : 'on '}
                  {placeText(at, marks.duration, anchorKind)}
                </span>
              }
              checked={pinned}
              onChange={({ target }) => setPinned(target.checked)}
            />
          )}
          {desk !== null &&
            marks.anchor !== null &&
            !isUntouched &&
            (marks.duration !== null || anchor !== marks.anchor) && (
              <Button
                size="compact-xs"
                variant="subtle"
                color="gray"
                onClick={() =>
                  desk.setMarks((before) => ({ ...before, anchor: desk.position.current, duration: null }))
                }
              >
                {anchorKind === 'page' ? 'To this page' : 'To this moment'}
              </Button>
            )}
          {marks.shapes.length > 0 && (
            <Text size="xs" c="dimmed">
              {marks.shapes.length === 1 ? '1 shape' : `${marks.shapes.length} shapes`}
            </Text>
          )}
        </Group>
        <Group gap="xs" ml="auto">
          <Text size="xs" c="dimmed" visibleFrom="sm">
            Ctrl + Enter
          </Text>
          <ActionButton size="compact-sm" refusal={missing} onClick={() => void send()}>
            {label}
          </ActionButton>
        </Group>
      </Group>
    </Stack>
  );
}
