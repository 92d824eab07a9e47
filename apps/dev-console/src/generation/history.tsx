import { Skeleton, Text, UnstyledButton } from '@mantine/core';
import { Thumbnail } from '../files/media/thumbnail.tsx';
import { errorToShow } from '../ui/error-to-show.ts';
import { MoreButton } from '../ui/more-button.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { Time } from '../ui/time.tsx';
import classes from './playground.module.css';
import { modelName } from './run-row.tsx';
import { type Run, useRuns } from './runs-query.ts';

/** The prompts of the project, newest first and each once. A click takes the prompt and its settings over. */
export function History({ project, onTake }: { project: string; onTake: (run: Run) => void }) {
  const runs = useRuns(project, {});
  const error = errorToShow(runs);
  if (error !== null) return <ProblemNotice error={error} onRetry={() => void runs.refetch()} />;
  if (runs.data === undefined) return <Skeleton h={180} />;
  const latest = new Map<string, Run>();
  for (const run of runs.data) {
    const key = `${run.generation.outputModel} ${run.generation.prompt}`;
    if (run.generation.prompt !== null && !latest.has(key)) latest.set(key, run);
  }
  if (latest.size === 0) return <Text c="dimmed">Nothing has been generated in this project yet.</Text>;
  return (
    <>
      <ul className={classes.history} aria-label="Earlier prompts">
        {[...latest.values()].map((run) => (
          <li key={run.id}>
            <UnstyledButton className={classes.past} onClick={() => onTake(run)}>
              <Thumbnail file={run} />
              <span className={classes.words}>
                <Text component="span" size="sm" dir="auto" lineClamp={2}>
                  {run.generation.prompt}
                </Text>
                <Text component="span" size="xs" c="dimmed">
                  {modelName(run.generation.outputModel)} · <Time at={run.generation.queuedAt} />
                </Text>
              </span>
            </UnstyledButton>
          </li>
        ))}
      </ul>
      <MoreButton query={runs}>Show older prompts</MoreButton>
    </>
  );
}
