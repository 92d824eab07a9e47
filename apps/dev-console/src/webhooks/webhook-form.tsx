import { Checkbox, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { contract, EventType, type ListedWebhook } from '@review/contract';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { maxLengthOf } from '../bounds.ts';
import { FormDialog } from '../ui/form-dialog.tsx';

interface WebhookFormProps {
  projectId: string;
  /** The webhook to edit; absent for a new one. */
  old?: ListedWebhook;
  onDone: (id: string) => void;
  onClose: () => void;
}

export function WebhookForm({ projectId, old, onDone, onClose }: WebhookFormProps) {
  const [url, setUrl] = useState(old?.url ?? '');
  const [description, setDescription] = useState(old?.description ?? '');
  const [types, setTypes] = useState<EventType[] | null>(old?.types ?? null);
  const save = useApiMutation(
    async () => {
      const body = { url: url.trim(), description: description.trim() || null, types };
      if (old === undefined) return (await client.webhooks.create({ params: { id: projectId }, body })).data.id;
      await client.webhooks.update({ params: { id: old.id }, body });
      return old.id;
    },
    { invalidates: [['webhooks']], onDone },
  );
  const missing = url.trim() === '' ? 'Enter the URL.' : types?.length === 0 ? 'Choose at least one event.' : null;
  return (
    <FormDialog
      title={old === undefined ? 'New webhook' : 'Edit the webhook'}
      submit={old === undefined ? 'Create webhook' : 'Save'}
      mutation={save}
      missing={missing}
      onSubmit={save.mutate}
      onClose={onClose}
    >
      <TextInput
        label="URL"
        description="Gets a POST for every event. It must be https."
        type="url"
        required
        data-autofocus
        placeholder="https://example.com/hooks/review"
        value={url}
        onChange={({ target }) => setUrl(target.value)}
      />
      <TextInput
        label="Description"
        maxLength={maxLengthOf(contract.webhooks.create.body.shape.description)}
        value={description}
        onChange={({ target }) => setDescription(target.value)}
      />
      <Checkbox
        label="All events, also of types that are added later"
        checked={types === null}
        onChange={({ target }) => setTypes(target.checked ? null : [])}
      />
      {types !== null && (
        <Checkbox.Group
          label="Events"
          value={types}
          onChange={(chosen) => setTypes(EventType.options.filter((type) => chosen.includes(type)))}
        >
          <Stack mt="xs" mah="30vh" style={{ overflow: 'auto' }}>
            <SimpleGrid cols={2} spacing="xs" verticalSpacing={6}>
              {EventType.options.map((type) => (
                <Checkbox key={type} size="xs" value={type} label={type} />
              ))}
            </SimpleGrid>
          </Stack>
        </Checkbox.Group>
      )}
    </FormDialog>
  );
}
