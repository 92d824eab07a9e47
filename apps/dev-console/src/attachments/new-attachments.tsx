import { ActionIcon, Progress, Stack, Text } from '@mantine/core';
import { Icon } from '../ui/icon.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { sizeOf } from '../ui/size.ts';
import classes from './attachments.module.css';
import type { NewAttachmentList } from './use-new-attachments.ts';

export function NewAttachments({ attachments }: { attachments: NewAttachmentList }) {
  if (attachments.all.length === 0) return null;
  return (
    <ul className={classes.list} aria-label="Attachments">
      {attachments.all.map(({ key, file, sent, id, error }) => (
        <li key={key} className={classes.attachment}>
          <Stack gap={2} className={classes.words}>
            <Text size="sm" truncate>
              {file.name}{' '}
              <Text span size="xs" c="dimmed">
                {id === null ? `${sizeOf(sent)} of ${sizeOf(file.size)}` : sizeOf(file.size)}
              </Text>
            </Text>
            {id === null && error === null && (
              <Progress size="xs" value={(100 * sent) / file.size} aria-label={`Upload of ${file.name}`} animated />
            )}
            {error !== null && <ProblemNotice error={error} />}
          </Stack>
          <ActionIcon
            size="sm"
            variant="subtle"
            color="gray"
            aria-label={`Remove ${file.name}`}
            onClick={() => attachments.remove(key)}
          >
            <Icon name="cross" size={14} />
          </ActionIcon>
        </li>
      ))}
    </ul>
  );
}
