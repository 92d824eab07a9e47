import { Skeleton, Stack } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { errorToShow } from './error-to-show.ts';
import { ForbiddenHint } from './forbidden-hint.tsx';
import { ProblemNotice } from './problem-notice.tsx';

interface LoadedProps<Data> {
  query: UseQueryResult<Data, Error>;
  /** Why the caller may not read it, or null. If set, the query is not sent. */
  refusal?: string | null;
  children: (data: Data) => ReactNode;
}

/** Renders the data of a query, or its loading, error or forbidden state. */
export function Loaded<Data>({ query, refusal = null, children }: LoadedProps<Data>) {
  if (refusal !== null) return <ForbiddenHint reason={refusal} />;
  const error = errorToShow(query);
  if (error !== null) return <ProblemNotice error={error} onRetry={() => void query.refetch()} />;
  if (query.data !== undefined) return children(query.data);
  return (
    <Stack gap="sm" aria-busy="true" aria-label="Loading" role="status">
      {[72, 100, 86].map((width) => (
        <Skeleton key={width} height={20} width={`${width}%`} />
      ))}
    </Stack>
  );
}
