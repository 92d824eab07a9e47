import { Progress, Text } from '@mantine/core';
import { findModel, type ProjectRole } from '@review/contract';
import { Link } from '@tanstack/react-router';
import { Thumbnail } from '../files/media/thumbnail.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Duration, Time } from '../ui/time.tsx';
import { RunActions, useCancel } from './run-actions.tsx';
import classes from './run-row.module.css';
import type { Run } from './runs-query.ts';
import { WAITING_REASONS } from './waiting.ts';

export const modelName = (id: string): string => findModel(id)?.name ?? id;

export function RunRow({ run, role }: { run: Run; role: ProjectRole }) {
  const { generation } = run;
  const cancel = useCancel(run);
  return (
    <li className={classes.run}>
      <Thumbnail file={run} />
      <div className={classes.words}>
        <Link to="/runs/$fileId" params={{ fileId: run.id }} dir="auto" className={classes.prompt}>
          {generation.prompt ?? run.name}
        </Link>
        <Text size="sm" c="dimmed" className={classes.facts}>
          <span>{modelName(generation.outputModel)}</span>
          <span>
            <Time at={generation.queuedAt} />
          </span>
          {generation.startedAt !== null && (
            <span>
              <Duration from={generation.startedAt} to={generation.finishedAt} />
            </span>
          )}
          {generation.provider === 'sandbox' && <span>sandbox</span>}
        </Text>
        {generation.waitingFor !== null && (
          <Text size="sm" c="dimmed">
            {WAITING_REASONS[generation.waitingFor]}
          </Text>
        )}
        {generation.error !== null && (
          <Text size="sm" className={classes.error}>
            {generation.error.message}
          </Text>
        )}
        {cancel.isError && <ProblemNotice error={cancel.error} />}
      </div>
      <div className={classes.state}>
        <StatusBadge status={generation.status} />
        {generation.status === 'RUNNING' && (
          <Progress
            size="sm"
            value={generation.progress * 100}
            aria-label={`Progress of ${run.name}`}
            className={classes.progress}
          />
        )}
      </div>
      <div className={classes.actions}>
        <RunActions run={run} role={role} cancel={cancel} size="compact-sm" />
      </div>
    </li>
  );
}
