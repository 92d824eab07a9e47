import { NativeSelect, TextInput } from '@mantine/core';
import { contract, LinkRole, timestampOf } from '@review/contract';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { maxLengthOf } from '../bounds.ts';
import { roleName } from '../session/access.ts';
import { FormDialog } from '../ui/form-dialog.tsx';

const LASTING = [
  { value: '', label: 'Until it is revoked' },
  { value: '1', label: 'One day' },
  { value: '7', label: 'One week' },
  { value: '30', label: 'Thirty days' },
] as const;
const DAY_MS = 86_400_000;

export function CreateLink({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const [role, setRole] = useState<LinkRole>('PROJECT_REVIEWER');
  const [description, setDescription] = useState('');
  const [days, setDays] = useState('7');
  const create = useApiMutation(
    async () => {
      const expiresAt = days === '' ? null : timestampOf(Date.now() + Number(days) * DAY_MS);
      const body = { role, description: description.trim() || null, expiresAt };
      await client.accessLinks.create({ params: { id: projectId }, body });
    },
    { invalidates: [['access-links', projectId]], onDone: onClose },
  );
  return (
    <FormDialog
      title="New access link"
      submit="Create link"
      mutation={create}
      onSubmit={create.mutate}
      onClose={onClose}
    >
      <TextInput
        label="For whom"
        description="Only you and other managers read this."
        data-autofocus
        maxLength={maxLengthOf(contract.accessLinks.create.body.shape.description)}
        value={description}
        onChange={({ target }) => setDescription(target.value)}
      />
      <NativeSelect
        label="They join as"
        value={role}
        onChange={({ target }) => setRole(LinkRole.catch(role).parse(target.value))}
        data={LinkRole.options.map((each) => ({ value: each, label: roleName(each) }))}
      />
      <NativeSelect label="Valid for" value={days} onChange={({ target }) => setDays(target.value)} data={LASTING} />
    </FormDialog>
  );
}
