import { Button, CopyButton, Group, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { contract, type Webhook } from '@review/contract';
import { client } from '../api.ts';
import { useApiMutation } from '../api-mutation.ts';
import type { ProjectRefusal } from '../projects/project-query.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { Time } from '../ui/time.tsx';
import classes from './webhooks.module.css';

/** The signing secret: hidden until asked for, to be copied, and to be replaced. */
export function Secret({ webhook, refusal }: { webhook: Webhook; refusal: ProjectRefusal }) {
  const { id, secret, previousSecretExpiresAt } = webhook;
  const [isShown, shown] = useDisclosure(false);
  const [asking, dialog] = useDisclosure(false);
  const rotate = useApiMutation(() => client.webhooks.rotateSecret({ params: { id } }), {
    invalidates: [['webhooks', id]],
    onDone: dialog.close,
  });
  return (
    <section className="card" aria-labelledby="secret">
      <Title order={2} id="secret" mb="xs">
        Secret
      </Title>
      {secret === null ? (
        <Text size="sm">The server can no longer decrypt the secret. Rotate it to get a new one.</Text>
      ) : (
        <div className={classes.secret}>
          <code className={classes.value}>{isShown ? secret : `whsec_${'•'.repeat(24)}`}</code>
          <Button size="xs" variant="default" aria-pressed={isShown} onClick={shown.toggle}>
            {isShown ? 'Hide' : 'Show'}
          </Button>
          <CopyButton value={secret}>
            {({ copied, copy }) => (
              <Button size="xs" variant="default" onClick={copy}>
                {copied ? 'Copied' : 'Copy secret'}
              </Button>
            )}
          </CopyButton>
        </div>
      )}
      <Group justify="space-between" mt="sm">
        <Text size="sm" c="dimmed">
          {previousSecretExpiresAt === null ? (
            'The receiver verifies the signature of every delivery with it.'
          ) : (
            <>
              The former secret signs too; it expires <Time at={previousSecretExpiresAt} />.
            </>
          )}
        </Text>
        <ActionButton
          size="xs"
          variant="default"
          refusal={refusal(contract.webhooks.rotateSecret)}
          onClick={dialog.open}
        >
          Rotate
        </ActionButton>
      </Group>
      {asking && (
        <ConfirmDialog
          title="Rotate the secret?"
          submit="Rotate secret"
          mutation={rotate}
          onConfirm={rotate.mutate}
          onClose={dialog.close}
        >
          Deliveries are signed with a new secret, and for 24 hours with the present one too. Give the new one to the
          receiver in that time.
        </ConfirmDialog>
      )}
    </section>
  );
}
