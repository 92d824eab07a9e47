import { Textarea, TextInput } from '@mantine/core';
import { contract } from '@review/contract';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { maxLengthOf } from '../bounds.ts';
import { FormDialog } from '../ui/form-dialog.tsx';

export default function CreateProject({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [deadline, setDeadline] = useState('');
  const create = useApiMutation(
    async () => {
      const body = { name: name.trim(), description: description.trim() || null, deadline: deadline || null };
      return (await client.projects.create({ body })).data.id;
    },
    {
      invalidates: [['projects']],
      onDone: (projectId) => void navigate({ to: '/projects/$projectId', params: { projectId } }),
    },
  );
  return (
    <FormDialog
      title="New project"
      submit="Create project"
      mutation={create}
      missing={name.trim() === '' ? 'Give it a name.' : null}
      onSubmit={create.mutate}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        maxLength={maxLengthOf(contract.projects.create.body.shape.name)}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Textarea
        label="Description"
        autosize
        minRows={2}
        maxRows={8}
        maxLength={maxLengthOf(contract.projects.create.body.shape.description)}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      <TextInput
        label="Deadline"
        type="date"
        w={180}
        value={deadline}
        onChange={(event) => setDeadline(event.target.value)}
      />
    </FormDialog>
  );
}
