import { Skeleton, Text } from '@mantine/core';
import type { FileDetails, Project } from '@review/contract';
import { Link } from '@tanstack/react-router';
import { useLiveFile } from '../files/queries.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { errorToShow } from '../ui/error-to-show.ts';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import classes from './playground.module.css';
import { RunActions, useCancel } from './run-actions.tsx';
import { modelName } from './run-row.tsx';
import { RunStage } from './run-stage.tsx';
import { isRun, type Run } from './runs-query.ts';

interface ResultsProps {
  project: Project;
  /** Newest first. */
  ids: readonly string[];
  onRetried: (id: string) => void;
}

/** What was generated on this page, as it comes. */
export function Results({ project, ids, onRetried }: ResultsProps) {
  if (ids.length === 0) {
    return (
      <EmptyState icon="spark" title="Results appear here">
        Write a prompt and press Generate. Change it and generate again: the results stay side by side.
      </EmptyState>
    );
  }
  return (
    <ul className={classes.results} aria-label="Results">
      {ids.map((id) => (
        <li key={id}>
          <LiveResult id={id} project={project} onRetried={onRetried} />
        </li>
      ))}
    </ul>
  );
}

function LiveResult({ id, ...rest }: Omit<ResultsProps, 'ids'> & { id: string }) {
  const file = useLiveFile(id, true, false);
  const error = errorToShow(file);
  if (error !== null) return <ProblemNotice error={error} onRetry={() => void file.refetch()} />;
  if (file.data === undefined || !isRun(file.data)) return <Skeleton h={180} />;
  return <Result run={file.data} {...rest} />;
}

function Result({ run, project, onRetried }: Omit<ResultsProps, 'ids'> & { run: FileDetails & Run }) {
  const cancel = useCancel(run);
  return (
    <article className={classes.result} aria-label={run.generation.prompt ?? run.name}>
      <RunStage run={run} role={project.role} steps={undefined} onRetried={onRetried} />
      <div className={classes.caption}>
        <Link to="/runs/$fileId" params={{ fileId: run.id }} dir="auto" className={classes.prompt}>
          {run.generation.prompt ?? run.name}
        </Link>
        <StatusBadge status={run.generation.status} />
      </div>
      <div className={classes.caption}>
        <Text size="xs" c="dimmed" flex={1}>
          {modelName(run.generation.outputModel)}
        </Text>
        <RunActions run={run} role={project.role} cancel={cancel} size="compact-sm" />
      </div>
      {cancel.isError && <ProblemNotice error={cancel.error} />}
    </article>
  );
}
