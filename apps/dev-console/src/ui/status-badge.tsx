import type { FileStatus, GenerationStatus, ReviewStatus } from '@review/contract';
import type { IconName } from './icon.tsx';
import classes from './status-badge.module.css';

type Status = FileStatus | GenerationStatus | ReviewStatus;

const SHOWN: Record<Status, { label: string; color: string }> = {
  QUEUED: { label: 'Queued', color: 'gray' },
  RUNNING: { label: 'Running', color: 'blue' },
  SUCCEEDED: { label: 'Ready', color: 'pine' },
  FAILED: { label: 'Failed', color: 'red' },
  CANCELED: { label: 'Canceled', color: 'gray' },
  UPLOADING: { label: 'Uploading', color: 'blue' },
  GENERATING: { label: 'Generating', color: 'blue' },
  UPLOADED: { label: 'Ready', color: 'pine' },
  IN_PROGRESS: { label: 'In progress', color: 'blue' },
  NEED_REVIEW: { label: 'Needs review', color: 'yellow' },
  NEED_EDIT: { label: 'Needs edit', color: 'orange' },
  ON_HOLD: { label: 'On hold', color: 'gray' },
  APPROVED: { label: 'Approved', color: 'pine' },
  REJECTED: { label: 'Rejected', color: 'red' },
  CLOSED: { label: 'Closed', color: 'gray' },
};
/** The icon of a file that has no content yet, or never gets any. */
export const statusIcon = (status: Status): IconName =>
  status === 'FAILED' ? 'warning' : status === 'CANCELED' ? 'stop' : 'clock';

export const statusLabel = (status: Status): string => SHOWN[status].label;

export function StatusBadge({ status }: { status: Status }) {
  const { label, color } = SHOWN[status];
  return (
    <span className={classes.badge} data-color={color}>
      {label}
    </span>
  );
}
