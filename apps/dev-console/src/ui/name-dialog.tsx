import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { FormDialog } from './form-dialog.tsx';

interface NameDialogProps {
  title: string;
  submit: string;
  label: string;
  initial?: string;
  maxLength: number;
  change: { isPending: boolean; error: Error | null };
  onName: (name: string) => void;
  onClose: () => void;
}

export function NameDialog({ label, initial = '', maxLength, onName, ...dialog }: NameDialogProps) {
  const [name, setName] = useState(initial);
  return (
    <FormDialog
      {...dialog}
      missing={name.trim() === '' ? 'Give it a name.' : null}
      onSubmit={() => onName(name.trim())}
    >
      <TextInput
        label={label}
        required
        data-autofocus
        maxLength={maxLength}
        value={name}
        onChange={(event) => setName(event.target.value)}
        onFocus={(event) => event.target.setSelectionRange(0, stemLength(event.target.value))}
      />
    </FormDialog>
  );
}

/** Typing over a name keeps the ending, which says what the file is. */
const stemLength = (name: string) => (name.lastIndexOf('.') > 0 ? name.lastIndexOf('.') : name.length);
