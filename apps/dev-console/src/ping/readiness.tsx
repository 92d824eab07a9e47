import { Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { z } from 'zod';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import classes from './health.module.css';

/** The probe of load balancers is no part of the contract. */
const Ready = z.looseObject({ status: z.string(), database: z.string(), storage: z.string(), engine: z.string() });

export function Readiness() {
  const ready = useQuery({
    queryKey: ['readyz'],
    refetchInterval: 10_000,
    queryFn: async ({ signal }) => Ready.parse(await (await fetch('/readyz', { signal })).json()),
  });
  if (ready.isError) return <ProblemNotice error={ready.error} onRetry={() => void ready.refetch()} />;
  if (ready.data === undefined) return <Skeleton h={84} />;
  const { status, database, storage, engine } = ready.data;
  const parts = [
    { name: 'Service', state: status, good: status === 'ok' },
    { name: 'Database', state: database, good: database === 'ok' },
    { name: 'Storage', state: storage, good: storage === 'ok' },
    { name: 'Engine', state: engine === 'embedded' ? 'Built in' : 'Temporal', good: true },
  ];
  return (
    <dl className={classes.parts}>
      {parts.map(({ name, state, good }) => (
        <div key={name} className={classes.part} data-good={good || undefined}>
          <Text component="dt" size="sm" c="dimmed">
            {name}
          </Text>
          <Text component="dd" fw={600} m={0}>
            {state === 'ok' ? 'Working' : state}
          </Text>
        </div>
      ))}
    </dl>
  );
}
