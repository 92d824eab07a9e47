import { Button, Group, Modal, Stack } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { ProblemNotice } from './problem-notice.tsx';

interface FormDialogProps {
  title: string;
  /** Label of the submit button. */
  submit: string;
  danger?: boolean;
  /** Why the form cannot be submitted yet, or null. */
  missing?: string | null;
  mutation: { isPending: boolean; error: Error | null };
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog with a form. A failed submit shows the error and keeps the input. */
export function FormDialog(props: FormDialogProps) {
  const { title, submit, danger = false, missing = null, mutation, onSubmit, onClose, children } = props;
  function send(event: FormEvent) {
    event.preventDefault();
    event.stopPropagation();
    if (missing === null && !mutation.isPending) onSubmit();
  }
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }} size="md">
      <form onSubmit={send} noValidate>
        <Stack gap="md">
          {children}
          {mutation.error !== null && <ProblemNotice error={mutation.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              loading={mutation.isPending}
              disabled={missing !== null}
              title={missing ?? undefined}
              {...(danger && { color: 'red.8' })}
            >
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
