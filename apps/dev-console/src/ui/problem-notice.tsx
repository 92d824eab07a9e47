import { Button, Code, CopyButton, Group, List, Text } from '@mantine/core';
import { ApiProblem } from '@review/client';
import { PROBLEMS } from '@review/contract';
import { Unreachable } from '../connection/reachability.ts';
import classes from './notice.module.css';

interface ProblemNoticeProps {
  error: unknown;
  onRetry?: (() => void) | undefined;
}

const isTimeout = (error: unknown) => error instanceof DOMException && error.name === 'TimeoutError';

/** Shows an error with its explanation and the request id for the operator. */
export function ProblemNotice({ error, onRetry }: ProblemNoticeProps) {
  if (error instanceof Unreachable || isTimeout(error)) return <NoAnswer onRetry={onRetry} />;
  const problem = error instanceof ApiProblem ? error : null;
  const known = problem === null ? null : PROBLEMS[problem.code];
  return (
    <div role="alert" className={classes.notice} data-kind="problem">
      <Text fw={600}>{known?.title ?? 'This failed in the console itself'}</Text>
      <Text size="sm" mt={4}>
        {problem?.message ?? (error instanceof Error ? error.message : String(error))}
      </Text>
      {known !== null && known.explanation !== problem?.message && (
        <Text size="sm" c="dimmed" mt={4}>
          {known.explanation}
        </Text>
      )}
      {problem !== null && problem.errors.length > 0 && (
        <List size="sm" mt="xs">
          {problem.errors.map(({ pointer, message }) => (
            <List.Item key={`${pointer} ${message}`}>
              <Code>{pointer}</Code> {message}
            </List.Item>
          ))}
        </List>
      )}
      <Group mt="sm" gap="xs">
        {onRetry !== undefined && (
          <Button size="compact-sm" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
        {problem?.requestId != null && (
          <CopyButton value={problem.requestId}>
            {({ copied, copy }) => (
              <Button
                size="compact-sm"
                variant="subtle"
                color="gray"
                onClick={copy}
                classNames={{ root: classes.request, label: classes.id }}
              >
                {copied ? 'Copied' : `Request ${problem.requestId}`}
              </Button>
            )}
          </CopyButton>
        )}
      </Group>
    </div>
  );
}

/** Not an alert: the banner says once, for all parts of the page, that the service is away. */
const NoAnswer = ({ onRetry }: Pick<ProblemNoticeProps, 'onRetry'>) => (
  <div role="note" className={classes.notice}>
    <Group gap="xs" justify="space-between">
      <Text size="sm" c="dimmed">
        {onRetry === undefined ? 'Not sent: the service did not answer. Try again.' : 'Waiting for the service.'}
      </Text>
      {onRetry !== undefined && (
        <Button size="compact-sm" variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Group>
  </div>
);
