import { ActionIcon, Progress, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect } from 'react';
import { Icon } from '../ui/icon.tsx';
import { sizeOf } from '../ui/size.ts';
import classes from './dock.module.css';
import { percentOf, sum, timeLeft } from './progress.ts';
import { UploadRow } from './upload-row.tsx';
import { dismissDone, type Upload, useUploads } from './uploads.ts';

const DONE_MS = 8000;

/** The uploads of all projects, above every page. */
export default function UploadDock() {
  const { unfinished, done } = useUploads();
  const [isOpen, { toggle }] = useDisclosure(true);
  const isDone = unfinished.length === 0 && done > 0;
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(dismissDone, DONE_MS);
    return () => clearTimeout(timer);
  }, [isDone]);
  if (unfinished.length === 0 && done === 0) return null;
  return (
    <section className={classes.dock} aria-label="Uploads in progress">
      <div className={classes.head}>
        <Icon name={isDone ? 'check' : 'upload'} size={16} />
        {isDone ? (
          <>
            <Text size="sm" fw={550} flex={1} role="status">
              {done === 1 ? '1 file uploaded' : `${done} files uploaded`}
            </Text>
            <ActionIcon size="sm" variant="subtle" color="gray" aria-label="Close the uploads" onClick={dismissDone}>
              <Icon name="cross" size={16} />
            </ActionIcon>
          </>
        ) : (
          <UnstyledButton className={classes.toggle} aria-expanded={isOpen} aria-controls="uploads" onClick={toggle}>
            <Text component="span" size="sm" fw={550}>
              {unfinished.length === 1 ? '1 upload' : `${unfinished.length} uploads`}
              {done > 0 && `, ${done} done`}
            </Text>
            <Text component="span" size="xs" c="dimmed" className={`numbers ${classes.total}`}>
              {totalText(unfinished)}
            </Text>
            <span className={classes.chevron} data-open={isOpen || undefined}>
              <Icon name="next" size={14} />
            </span>
          </UnstyledButton>
        )}
      </div>
      {!isDone && !isOpen && (
        <Progress
          size="xs"
          radius={0}
          value={percentOf(sum(unfinished.map(({ sent }) => sent)), sum(unfinished.map(({ state }) => state.size)))}
          aria-label="All uploads"
        />
      )}
      {!isDone && isOpen && (
        <ul id="uploads" className={classes.rows} aria-label="Uploads">
          {unfinished.map((upload) => (
            <UploadRow key={upload.state.key} upload={upload} />
          ))}
        </ul>
      )}
    </section>
  );
}

function totalText(uploads: readonly Upload[]): string {
  const sending = uploads.filter(({ status }) => status === 'SENDING' || status === 'WAITING');
  const speed = sum(sending.map((upload) => upload.speed ?? 0));
  return [speed > 0 && `${sizeOf(speed)}/s`, timeLeft(sending)].filter(Boolean).join(' · ');
}
