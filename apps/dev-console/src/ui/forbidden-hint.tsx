import { Text } from '@mantine/core';
import classes from './notice.module.css';

const adviceFor = (reason: string): string | null => {
  if (reason.startsWith('This key'))
    return 'Sign in with a key that has it. The operator creates keys with review key create.';
  return reason.startsWith('Only ') ? 'A project owner or manager can change your role.' : null;
};

/** Explains which scope or role is missing and how to get it. Unlike an error, it is not an alert. */
export function ForbiddenHint({ reason }: { reason: string }) {
  return (
    <div className={classes.notice} role="note">
      <Text size="sm">{reason}</Text>
      <Text size="sm" c="dimmed" mt={2}>
        {adviceFor(reason)}
      </Text>
    </div>
  );
}
