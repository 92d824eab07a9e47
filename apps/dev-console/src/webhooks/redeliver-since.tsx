import { TextInput } from '@mantine/core';
import { timestampOf } from '@review/contract';
import { useState } from 'react';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import { FormDialog } from '../ui/form-dialog.tsx';

const HOUR_MS = 3_600_000;

/** The value of a `datetime-local` input, which has no time zone. */
function localValue(instant: number): string {
  const local = new Date(instant - new Date(instant).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Delivers all events since a time again. */
export function RedeliverSince({ webhookId, onClose }: { webhookId: string; onClose: () => void }) {
  const [since, setSince] = useState(() => localValue(Date.now() - HOUR_MS));
  const redeliver = useApiMutation(
    () =>
      client.webhooks.redeliverSince({
        params: { id: webhookId },
        body: { since: timestampOf(new Date(since).getTime()) },
      }),
    { invalidates: [['webhook-deliveries', webhookId]], onDone: onClose },
  );
  return (
    <FormDialog
      title="Redeliver events"
      submit="Redeliver"
      mutation={redeliver}
      missing={since === '' ? 'Choose a time.' : null}
      onSubmit={redeliver.mutate}
      onClose={onClose}
    >
      <TextInput
        label="Since"
        description="Every event from then on is delivered again, also those that arrived. Receivers recognize them by webhook-id."
        type="datetime-local"
        required
        data-autofocus
        value={since}
        onChange={({ target }) => setSince(target.value)}
      />
    </FormDialog>
  );
}
