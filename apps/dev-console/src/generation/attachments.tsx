import { Button, CloseButton, FileButton, Group, Input, Progress, Text } from '@mantine/core';
import { Thumbnail } from '../files/media/thumbnail.tsx';
import { Icon } from '../ui/icon.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import classes from './attachments.module.css';
import type { useAttachments } from './use-attachments.ts';

interface AttachmentsProps {
  attachments: ReturnType<typeof useAttachments>;
  /** The validation error of the contract. */
  mistake: string | undefined;
  onRefer: (id: string) => void;
  /** Shows the files of the project. */
  onPick: () => void;
}

/** Reference files for the model: uploaded from this machine or picked from the project. */
export function Attachments({ attachments, mistake, onRefer, onPick }: AttachmentsProps) {
  const { attached, sending, send, remove, cancel } = attachments;
  return (
    <Input.Wrapper
      label="Attachments"
      labelElement="div"
      description="References for the model, at most five. Drop files of this machine or of the project anywhere on this form, or paste them."
      error={mistake}
    >
      <ul className={classes.list}>
        {attached.map(({ id, name, file }) => (
          <li key={id} className={classes.attachment}>
            <Group gap="xs" wrap="nowrap" miw={0}>
              {file !== undefined && <Thumbnail file={file} />}
              <Text size="sm" fw={550} truncate title={name}>
                {name}
              </Text>
            </Group>
            <Group gap={4} wrap="nowrap">
              <Button
                size="compact-xs"
                variant="light"
                onClick={() => onRefer(id)}
                aria-label={`Name in prompt: ${name}`}
              >
                Name in prompt
              </Button>
              <CloseButton size="sm" aria-label={`Remove ${name}`} onClick={() => remove(id)} />
            </Group>
          </li>
        ))}
        {sending.map(({ key, name, progress, error }) => (
          <li key={key} className={classes.attachment}>
            <Text size="sm" truncate>
              {name}
            </Text>
            <CloseButton size="sm" aria-label={`Remove ${name}`} onClick={() => cancel(key)} />
            {error === null ? (
              <Progress size="sm" value={progress * 100} className={classes.line} aria-label={`Sending ${name}`} />
            ) : (
              <div className={classes.line}>
                <ProblemNotice error={error} />
              </div>
            )}
          </li>
        ))}
      </ul>
      <Group gap="xs" mt="xs">
        <FileButton multiple onChange={(files) => files.forEach((file) => void send(file))}>
          {(props) => (
            <Button {...props} size="xs" variant="default" leftSection={<Icon name="upload" size={14} />}>
              From this machine
            </Button>
          )}
        </FileButton>
        <Button size="xs" variant="default" leftSection={<Icon name="folder" size={14} />} onClick={onPick}>
          From the project
        </Button>
      </Group>
    </Input.Wrapper>
  );
}
