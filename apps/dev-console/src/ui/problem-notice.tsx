import { Button, Code, CopyButton, Group, List, Text } from '@mantine/core';
import { ApiProblem } from '@review/client';
import { PROBLEMS } from '@review/contract';
import classes from './notice.module.css';

interface ProblemNoticeProps {
  error: unknown;
  onRetry?: () => void;
}

/** Shows an error with its explanation and the request id for the operator. */
export function ProblemNotice({ error, onRetry }: ProblemNoticeProps) {
  const problem = error instanceof ApiProblem ? error : null;
  const known = problem === null ? null : PROBLEMS[problem.code];
  return (
    <div role="alert" className={classes.notice} data-kind="problem">
      <Text fw={600}>{known?.title ?? 'The service cannot be reached'}</Text>
      <Text size="sm" mt={4}>
        {problem?.message ?? 'Check that the server is running and that you are online, then try again.'}
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
              <Button size="compact-sm" variant="subtle" color="gray" onClick={copy}>
                {copied ? 'Copied' : `Request ${problem.requestId}`}
              </Button>
            )}
          </CopyButton>
        )}
      </Group>
    </div>
  );
}
