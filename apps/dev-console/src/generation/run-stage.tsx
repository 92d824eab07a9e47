import { Box, Progress, Text } from '@mantine/core';
import type { FileDetails, GenerationStep, ProjectRole } from '@review/contract';
import { Link } from '@tanstack/react-router';
import { iconOf } from '../files/kind.ts';
import { renditionOf } from '../files/media/renditions.ts';
import { Picture } from '../files/media/thumbnail.tsx';
import { ActionButton } from '../ui/action-button.tsx';
import { Icon } from '../ui/icon.tsx';
import notice from '../ui/notice.module.css';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { Duration } from '../ui/time.tsx';
import { useRetry } from './again.ts';
import { ERROR_ADVICE } from './error-advice.ts';
import classes from './run-stage.module.css';
import type { Run } from './runs-query.ts';
import { runningStep } from './steps.ts';
import { WAITING_REASONS } from './waiting.ts';

type DetailedRun = FileDetails & Run;

interface RunStageProps {
  run: DetailedRun;
  role: ProjectRole | undefined;
  /** Undefined until they are loaded, and for those who may not read them. */
  steps: readonly GenerationStep[] | undefined;
  onRetried: (id: string) => void;
}

/** The result of a run; until there is one, what it does now; or why there is none. */
export function RunStage({ run, role, steps, onRetried }: RunStageProps) {
  const { status } = run.generation;
  if (status === 'SUCCEEDED') return <Result run={run} />;
  if (status === 'QUEUED' || status === 'RUNNING') return <UnderWay run={run} steps={steps} />;
  return <NoResult run={run} role={role} onRetried={onRetried} />;
}

function Result({ run }: { run: DetailedRun }) {
  const poster = renditionOf(run, 'POSTER');
  const [width, height] = [poster?.width ?? run.media?.width ?? 16, poster?.height ?? run.media?.height ?? 9];
  const hasPicture = poster !== undefined || run.media?.status === 'PENDING';
  return (
    <Link
      to="/files/$fileId"
      params={{ fileId: run.id }}
      className={classes.result}
      aria-label={`Open the result: ${run.generation.prompt ?? run.name}`}
      style={hasPicture ? { aspectRatio: `${width} / ${height}` } : undefined}
      data-picture={hasPicture || undefined}
    >
      <Icon name={iconOf(run)} size={32} />
      {!hasPicture && <Text size="sm">Open {run.name}</Text>}
      <Picture url={poster?.url ?? null} placeholder={run.media?.placeholder ?? null} />
    </Link>
  );
}

function UnderWay({ run, steps }: { run: Run; steps: readonly GenerationStep[] | undefined }) {
  const { generation } = run;
  const running = generation.startedAt === null ? null : runningStep(steps ?? [], generation.startedAt);
  return (
    <Box className={classes.underWay} role="group" aria-label="Progress of the run">
      <Text fw={600} size="lg" role="status">
        {running === null ? 'In the queue' : steps === undefined ? 'Being made' : running.label}
      </Text>
      <Text size="sm" c="dimmed">
        {generation.waitingFor !== null ? (
          WAITING_REASONS[generation.waitingFor]
        ) : running === null ? (
          'Waiting for its turn.'
        ) : (
          <>
            since <Duration from={running.since} to={null} />
          </>
        )}
      </Text>
      <Progress
        value={generation.progress * 100}
        aria-label="Progress"
        className={classes.bar}
        striped={generation.progress === 0}
        animated={generation.progress === 0}
      />
      <Text size="sm" c="dimmed" className="numbers">
        {Math.round(generation.progress * 100)} % · <Duration from={generation.queuedAt} to={null} /> in all
      </Text>
    </Box>
  );
}

function NoResult({ run, role, onRetried }: Omit<RunStageProps, 'steps'>) {
  const { error, status } = run.generation;
  const retry = useRetry(run, role, onRetried);
  return (
    <div className={notice.notice} data-kind={status === 'FAILED' ? 'problem' : undefined} role="note">
      <Text fw={600}>{error?.message ?? 'This run was canceled, and made no file.'}</Text>
      {error !== null && (
        <>
          {retry.refusal === null && (
            <Text size="sm" c="dimmed" mt={4}>
              {ERROR_ADVICE[error.code]}
            </Text>
          )}
          <Text size="xs" c="dimmed" mt={6} className="mono">
            {error.code}
          </Text>
        </>
      )}
      {retry.refusal === null && (
        <ActionButton
          mt="sm"
          size="sm"
          variant={error?.retryable === false ? 'default' : 'filled'}
          leftSection={<Icon name="repeat" size={14} />}
          refusal={null}
          loading={retry.isPending}
          onClick={() => retry.mutate()}
        >
          Try again
        </ActionButton>
      )}
      {retry.isError && <ProblemNotice error={retry.error} />}
    </div>
  );
}
