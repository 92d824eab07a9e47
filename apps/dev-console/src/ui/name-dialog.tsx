import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { FormDialog } from './form-dialog.tsx';

interface NameDialogProps {
  title: string;
  submit: string;
  label: string;
  initial?: string;
  maxLength: number;
  mutation: { isPending: boolean; error: Error | null };
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

/** Length of the name without its extension; only that part is selected, so that typing keeps the extension. */
const stemLength = (name: string) => (name.lastIndexOf('.') > 0 ? name.lastIndexOf('.') : name.length);
