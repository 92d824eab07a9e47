import { Avatar } from '@mantine/core';
import { type Activity, ProjectRole, ReviewStatus } from '@review/contract';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { z } from 'zod';
import { roleName } from '../session/access.ts';
import { Icon } from '../ui/icon.tsx';
import rows from '../ui/rows.module.css';
import { statusLabel } from '../ui/status-badge.tsx';
import { Time } from '../ui/time.tsx';
import classes from './activity-row.module.css';
import { shownEvent } from './shown-events.ts';

/** The fields of `data` that are shown, of all types of events. */
const Details = z
  .object({
    file: z.object({ id: z.string() }).nullable(),
    tag: ReviewStatus,
    status: ReviewStatus,
    role: ProjectRole,
    /** The emoji of a reaction. */
    type: z.string(),
    error: z.object({ code: z.string() }),
  })
  .partial();
type Details = z.infer<typeof Details>;

function wordsOf({ tag, status, role, type, error }: Details): string | undefined {
  const state = tag ?? status;
  if (state !== undefined) return statusLabel(state);
  return role === undefined ? (type ?? error?.code) : roleName(role);
}

/** A change: who made it, what it was and when. */
export function ActivityRow({ activity }: { activity: Activity }) {
  const shown = shownEvent(activity.type);
  if (shown === null) return null;
  const { actor, at, data, people } = activity;
  const mentioned = activity.type === 'comment.mentioned' && people.map(({ name }) => name).join(', ');
  const details = Details.catch({}).parse(data);
  const subject = subjectOf(activity, details);
  const words = wordsOf(details);
  return (
    <li className={rows.row}>
      {actor === null ? (
        <span className={classes.service}>
          <Icon name={shown.icon} size={15} />
        </span>
      ) : (
        <Avatar src={actor.avatarUrl} name={actor.name} color="gray" alt="" size="sm" />
      )}
      <div className={rows.main}>
        <div className={classes.words}>
          <b>{actor?.name ?? 'The service'}</b> {shown.words} {mentioned}
        </div>
        <div className={rows.detail}>
          {subject}
          {subject !== null && words !== undefined && ' · '}
          {words}
        </div>
      </div>
      <span className={classes.time}>
        <Time at={at} />
      </span>
    </li>
  );
}

/** The name of what has changed, as a link if it still exists. */
function subjectOf({ type, project, subject: { type: kind, id, name } }: Activity, { file }: Details): ReactNode {
  const params = { projectId: project.id };
  if (kind === 'comment' && type !== 'comment.deleted') {
    return file == null ? (
      <Link to="/projects/$projectId/comments" params={params} search={{ thread: id }}>
        comment on the project
      </Link>
    ) : (
      <Link to="/files/$fileId" params={{ fileId: file.id }} search={{ thread: id }}>
        comment on a file
      </Link>
    );
  }
  if (name === null || kind === 'project') return null;
  switch (kind) {
    case 'file':
      return (
        <Link to="/files/$fileId" params={{ fileId: id }}>
          {name}
        </Link>
      );
    case 'folder':
      return (
        <Link to="/projects/$projectId" params={params} search={{ folder: id }}>
          {name}
        </Link>
      );
    case 'version':
      return (
        <Link to="/projects/$projectId/versions/$versionId" params={{ ...params, versionId: id }}>
          {name}
        </Link>
      );
    default:
      return name;
  }
}
