import { ActionIcon, Button, FileButton, Group, Progress, Stack, Text } from '@mantine/core';
import { Icon } from '../ui/icon.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import rows from '../ui/rows.module.css';
import { sizeOf } from '../ui/size.ts';
import { abortUpload, pauseUpload, resumeUpload, type Upload, useUploads } from './uploads.ts';

/** The unfinished uploads of this project. */
export function UploadList({ projectId }: { projectId: string }) {
  const uploads = useUploads().filter((upload) => upload.projectId === projectId);
  if (uploads.length === 0) return null;
  return (
    <ul className={rows.rows} aria-label="Uploads">
      {uploads.map((upload) => (
        <UploadRow key={upload.state.key} upload={upload} />
      ))}
    </ul>
  );
}

function UploadRow({ upload }: { upload: Upload }) {
  const { name, size, sent, status, error, mistake, state } = upload;
  const percent = Math.floor((100 * sent) / size);
  return (
    <li className={rows.row}>
      <Icon name="upload" />
      <Stack gap={4} className={rows.main}>
        <Group gap="xs" justify="space-between" wrap="nowrap">
          <span className={rows.name}>{name}</span>
          <Text size="sm" c="dimmed" className="numbers" role="status">
            {statusText(upload)}
          </Text>
        </Group>
        <Progress value={percent} aria-label={`Upload of ${name}`} size="sm" animated={status === 'SENDING'} />
        <Text size="xs" c="dimmed">
          {status === 'LOST'
            ? 'The page was reloaded. Choose the same file again to resume the upload.'
            : `${sizeOf(sent)} of ${sizeOf(size)}`}
        </Text>
        {mistake !== null && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {mistake}
          </Text>
        )}
        {error !== null && <ProblemNotice error={error} />}
      </Stack>
      <div className={rows.side}>
        {status === 'SENDING' && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Pause the upload of ${name}`}
            onClick={() => pauseUpload(state.key)}
          >
            <Icon name="pause" />
          </ActionIcon>
        )}
        {(status === 'PAUSED' || status === 'FAILED') && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Resume the upload of ${name}`}
            onClick={() => resumeUpload(state.key)}
          >
            <Icon name="play" />
          </ActionIcon>
        )}
        {status === 'LOST' && (
          <FileButton
            onChange={(file) => {
              if (file !== null) resumeUpload(state.key, file);
            }}
          >
            {(props) => (
              <Button {...props} size="compact-sm" variant="default">
                Choose {name}
              </Button>
            )}
          </FileButton>
        )}
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Abort the upload of ${name}`}
          onClick={() => void abortUpload(state.key)}
        >
          <Icon name="cross" />
        </ActionIcon>
      </div>
    </li>
  );
}

function statusText({ status, sent, size }: Upload): string {
  if (status === 'SENDING') return `${Math.floor((100 * sent) / size)} %`;
  return { PAUSED: 'Paused', FAILED: 'Stopped', LOST: 'Waiting for its file' }[status];
}
