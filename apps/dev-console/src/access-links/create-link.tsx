import { NativeSelect, TextInput } from '@mantine/core';
import { LinkRole } from '@review/contract';
import { useState } from 'react';
import { roleName } from '../access.ts';
import { client } from '../api.ts';
import { useChange } from '../change.ts';
import { FormDialog } from '../ui/form-dialog.tsx';

const LASTING = [
  { value: '', label: 'Until it is revoked' },
  { value: '1', label: 'One day' },
  { value: '7', label: 'One week' },
  { value: '30', label: 'Thirty days' },
] as const;
const DAY_MS = 86_400_000;

const inDays = (days: number) =>
  `${new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 23).replace('T', ' ')}000`;

export function CreateLink({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const [role, setRole] = useState<LinkRole>('PROJECT_REVIEWER');
  const [description, setDescription] = useState('');
  const [days, setDays] = useState('7');
  const create = useChange(
    async () => {
      const expiresAt = days === '' ? null : inDays(Number(days));
      const body = { role, description: description.trim() || null, expiresAt };
      await client.accessLinks.create({ params: { id: projectId }, body });
    },
    { touches: [['access-links', projectId]], onDone: onClose },
  );
  return (
    <FormDialog title="New access link" submit="Create link" change={create} onSubmit={create.mutate} onClose={onClose}>
      <TextInput
        label="For whom"
        description="Only you and other managers read this."
        data-autofocus
        maxLength={1024}
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
