import { Text } from '@mantine/core';
import classes from './comment.module.css';
import type { Waiting } from './posting.ts';

/** A comment that the server has not confirmed yet. */
export function WaitingComment({ draft }: { draft: Waiting }) {
  return (
    <article className={classes.comment} aria-busy="true">
      <div>
        <Text size="sm" fw={600}>
          You{' '}
          <Text span size="xs" c="dimmed" fw={400}>
            sending…
          </Text>
        </Text>
        <Text dir="auto" className={classes.content}>
          {draft.content}
        </Text>
        {draft.shapes.length > 0 && (
          <Text size="sm" c="dimmed">
            A drawing
          </Text>
        )}
        {draft.attachments.map(({ id, name }) => (
          <Text key={id} size="sm" c="dimmed">
            {name}
          </Text>
        ))}
      </div>
    </article>
  );
}
