import { ActionIcon, Button, FileButton, Progress, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Icon, type IconName } from '../ui/icon.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { sizeOf } from '../ui/size.ts';
import classes from './dock.module.css';
import { percentOf, timeLeft } from './progress.ts';
import { abortUpload, pauseUpload, resumeUpload, type Upload } from './uploads.ts';

export function UploadRow({ upload }: { upload: Upload }) {
  const { name, projectId, folderId, sent, status, error, mistake, state } = upload;
  return (
    <li className={classes.row}>
      <div className={classes.line}>
        <Link
          to="/projects/$projectId"
          params={{ projectId }}
          search={folderId === null ? {} : { folder: folderId }}
          className={classes.name}
          title={name}
        >
          {name}
        </Link>
        <Text size="xs" c="dimmed" className="numbers">
          {statusText(upload)}
        </Text>
        {(status === 'SENDING' || status === 'WAITING') && (
          <Action icon="pause" label={`Pause the upload of ${name}`} onClick={() => pauseUpload(state.key)} />
        )}
        {(status === 'PAUSED' || status === 'FAILED') && (
          <Action icon="play" label={`Resume the upload of ${name}`} onClick={() => resumeUpload(state.key)} />
        )}
        <Action icon="cross" label={`Abort the upload of ${name}`} onClick={() => void abortUpload(state.key)} />
      </div>
      <Progress value={percentOf(sent, state.size)} aria-label={`Upload of ${name}`} size="sm" />
      {status === 'LOST' ? (
        <div className={classes.line}>
          <Text size="xs" c="dimmed" flex={1}>
            The page was reloaded. Choose the same file again to resume the upload.
          </Text>
          <FileButton onChange={(file) => file !== null && resumeUpload(state.key, file)}>
            {(props) => (
              <Button {...props} size="compact-xs" variant="default" aria-label={`Choose ${name}`}>
                Choose
              </Button>
            )}
          </FileButton>
        </div>
      ) : (
        <Text size="xs" c="dimmed" className="numbers">
          {[
            `${sizeOf(sent)} of ${sizeOf(state.size)}`,
            status === 'SENDING' && upload.speed !== null && `${sizeOf(upload.speed)}/s`,
            status === 'SENDING' && timeLeft([upload]),
          ]
            .filter((part) => part !== false && part !== null)
            .join(' · ')}
        </Text>
      )}
      {mistake !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {mistake}
        </Text>
      )}
      {error !== null && <ProblemNotice error={error} />}
    </li>
  );
}

const Action = ({ icon, label, onClick }: { icon: IconName; label: string; onClick: () => void }) => (
  <ActionIcon size="sm" variant="subtle" color="gray" aria-label={label} title={label} onClick={onClick}>
    <Icon name={icon} size={16} />
  </ActionIcon>
);

function statusText({ status, sent, state }: Upload): string {
  if (status === 'SENDING') return `${percentOf(sent, state.size)} %`;
  return { WAITING: 'Waiting', PAUSED: 'Paused', FAILED: 'Stopped', LOST: 'Waiting for its file' }[status];
}
