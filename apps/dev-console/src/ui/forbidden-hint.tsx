import { Text } from '@mantine/core';
import classes from './notice.module.css';

/** Something this key or role must not do: no failure, so it is told quietly and with the way out. */
export function ForbiddenHint({ reason }: { reason: string }) {
  return (
    <div className={classes.notice} role="note">
      <Text size="sm">{reason}</Text>
      <Text size="sm" c="dimmed" mt={2}>
        {reason.startsWith('This key')
          ? 'Sign in with a key that has it; keys are made by the operator with review key create.'
          : 'A project owner or manager can change your role.'}
      </Text>
    </div>
  );
}
