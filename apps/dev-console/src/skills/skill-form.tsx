import { Textarea, TextInput } from '@mantine/core';
import { contract, type Skill } from '@review/contract';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { maxLengthOf } from '../bounds.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { metadataOf, metadataText, toolsOf } from './fields.ts';

interface SkillFormProps {
  /** The skill to edit; omitted to create a new one. */
  skill?: Skill;
  onDone: (id: string) => void;
  onClose: () => void;
}

export function SkillForm({ skill, onDone, onClose }: SkillFormProps) {
  const [name, setName] = useState(skill?.name ?? '');
  const [description, setDescription] = useState(skill?.description ?? '');
  const [license, setLicense] = useState(skill?.license ?? '');
  const [tools, setTools] = useState(skill?.allowedTools?.join('\n') ?? '');
  const [metadata, setMetadata] = useState(metadataText(skill?.metadata ?? null));
  const read = metadataOf(metadata);
  const save = useApiMutation(
    async () => {
      const body = {
        name: name.trim(),
        description: description.trim(),
        license: license.trim() || null,
        allowedTools: toolsOf(tools),
        metadata: read.value,
      };
      if (skill === undefined) return (await client.skills.create({ body })).data.id;
      await client.skills.update({ params: { id: skill.id }, body });
      return skill.id;
    },
    { invalidates: [['skills']], onDone },
  );
  return (
    <FormDialog
      title={skill === undefined ? 'New skill' : 'About the skill'}
      submit={skill === undefined ? 'Create skill' : 'Save'}
      mutation={save}
      missing={name.trim() === '' || description.trim() === '' ? 'Give it a name and a description.' : read.error}
      onSubmit={save.mutate}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        maxLength={maxLengthOf(contract.skills.create.body.shape.name)}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <Textarea
        label="Description"
        description="What it does and when an agent should load it."
        required
        autosize
        minRows={2}
        maxRows={8}
        maxLength={maxLengthOf(contract.skills.create.body.shape.description)}
        value={description}
        onChange={({ target }) => setDescription(target.value)}
      />
      <Textarea
        label="Allowed tools"
        description="One per line. If empty, the agent decides."
        autosize
        minRows={1}
        maxRows={6}
        value={tools}
        onChange={({ target }) => setTools(target.value)}
      />
      <TextInput
        label="License"
        maxLength={maxLengthOf(contract.skills.create.body.shape.license)}
        value={license}
        onChange={({ target }) => setLicense(target.value)}
      />
      <Textarea
        label="Metadata"
        description="name: value, one per line."
        autosize
        minRows={1}
        maxRows={6}
        value={metadata}
        error={read.error}
        onChange={({ target }) => setMetadata(target.value)}
      />
    </FormDialog>
  );
}
