import { Text } from '@mantine/core';
import type { GenerationStep } from '@review/contract';
import { Duration, Time } from '../ui/time.tsx';
import { stepLabel, timed } from './steps.ts';
import classes from './timeline.module.css';

const OUTCOMES = { SUCCEEDED: 'done', RETRIED: 'tried again', FAILED: 'failed', CANCELED: 'canceled' } as const;

/** The steps of a run with their attempts. */
export function Timeline({ steps }: { steps: readonly GenerationStep[] }) {
  return (
    <ol className={classes.timeline} aria-label="Steps">
      {timed(steps).map((step) => (
        <li
          key={`${step.name} ${step.attempt} ${step.startedAt}`}
          className={classes.step}
          data-outcome={step.outcome ?? 'RUNNING'}
        >
          <Text component="span" fw={550}>
            {stepLabel(step.name)}
          </Text>
          {step.attempt > 1 && (
            <Text component="span" size="sm" c="dimmed">
              attempt {step.attempt}
            </Text>
          )}
          <Text component="span" size="sm" c="dimmed" className={classes.outcome}>
            {step.outcome === null ? 'running' : OUTCOMES[step.outcome]} ·{' '}
            <Duration from={step.since} to={step.finishedAt} /> · <Time at={step.since} />
          </Text>
          {step.message !== null && (
            <Text size="sm" c="dimmed" className={classes.message}>
              {step.message}
            </Text>
          )}
        </li>
      ))}
    </ol>
  );
}
