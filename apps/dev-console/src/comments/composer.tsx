import { ActionIcon, Checkbox, FileButton, Group, Stack, Text, Textarea } from '@mantine/core';
import { contract } from '@review/contract';
import { useState } from 'react';
import { NewAttachments } from '../attachments/new-attachments.tsx';
import { useNewAttachments } from '../attachments/use-new-attachments.ts';
import { maxLengthOf } from '../bounds.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import { Icon } from '../ui/icon.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { type AnchorKind, anchorText } from './anchor.ts';
import classes from './composer.module.css';
import type { Draft } from './posting.ts';

interface ComposerProps {
  /** "Comment" or "Reply". */
  label: string;
  on: { project: string } | { file: string };
  anchor: number | null;
  anchorKind: AnchorKind;
  refusal: string | null;
  onSend: (draft: Draft) => Promise<void>;
}

/** An input for comments. Sending clears it at once; a failed request restores the text and shows the error. */
export function Composer({ label, on, anchor, anchorKind, refusal, onSend }: ComposerProps) {
  const [content, setContent] = useState('');
  const [pinned, setPinned] = useState(true);
  const [error, setError] = useState<unknown>(null);
  const attachments = useNewAttachments(on);
  if (refusal !== null) return <ForbiddenHint reason={refusal} />;

  const isEmpty = content.trim() === '' && attachments.ready.length === 0;
  const missing = isEmpty
    ? 'Write something or attach a file.'
    : attachments.isBusy
      ? 'An attachment is still being uploaded.'
      : null;
  async function send() {
    if (missing !== null) return;
    const draft = { content: content.trim(), attachments: attachments.ready, anchor: pinned ? anchor : null };
    setError(null);
    setContent('');
    const giveBack = attachments.take();
    try {
      await onSend(draft);
    } catch (problem) {
      setContent((typed) => typed || draft.content);
      giveBack();
      setError(problem);
    }
  }

  return (
    <Stack gap={6} className={classes.composer}>
      <Textarea
        aria-label={label}
        placeholder={label === 'Reply' ? 'Reply…' : 'Write a comment…'}
        variant="unstyled"
        autosize
        minRows={label === 'Reply' ? 1 : 2}
        maxRows={10}
        maxLength={maxLengthOf(contract.comments.create.body.shape.content)}
        value={content}
        onChange={({ target }) => setContent(target.value)}
        onPaste={(event) => {
          const files = [...event.clipboardData.files];
          if (files.length > 0) event.preventDefault();
          attachments.add(files);
        }}
        onKeyDown={(event) => {
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
          {anchor !== null && (
            <Checkbox
              size="xs"
              label={
                <span className="numbers">
                  {anchorKind === 'time' ? 'at ' : 'on '}
                  {anchorText(anchor, anchorKind)}
                </span>
              }
              checked={pinned}
              onChange={({ target }) => setPinned(target.checked)}
            />
          )}
        </Group>
        <Group gap="xs">
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
