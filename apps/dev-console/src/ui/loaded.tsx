import { Skeleton, Stack } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ForbiddenHint } from './forbidden-hint.tsx';
import { ProblemNotice } from './problem-notice.tsx';

interface LoadedProps<Data> {
  query: UseQueryResult<Data, Error>;
  /** Why it must not be read, or null; the query is then not asked at all. */
  refusal?: string | null;
  children: (data: Data) => ReactNode;
}

/** What a query answers, or why there is nothing to show. */
export function Loaded<Data>({ query, refusal = null, children }: LoadedProps<Data>) {
  if (refusal !== null) return <ForbiddenHint reason={refusal} />;
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <ProblemNotice error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <Stack gap="sm" aria-busy="true" aria-label="Loading" role="status">
      {[72, 100, 86].map((width) => (
        <Skeleton key={width} height={20} width={`${width}%`} />
      ))}
    </Stack>
  );
}
