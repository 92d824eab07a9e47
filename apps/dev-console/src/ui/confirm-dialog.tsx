import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { FormDialog } from './form-dialog.tsx';

interface ConfirmDialogProps {
  title: string;
  submit: string;
  mutation: { isPending: boolean; error: Error | null };
  onConfirm: () => void;
  onClose: () => void;
  /** What will be deleted, and whether that can be undone. */
  children: ReactNode;
}

export function ConfirmDialog({ onConfirm, children, ...dialog }: ConfirmDialogProps) {
  return (
    <FormDialog {...dialog} danger onSubmit={onConfirm}>
      <Text size="sm" component="div">
        {children}
      </Text>
    </FormDialog>
  );
}
