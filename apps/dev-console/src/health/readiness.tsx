import { Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { z } from 'zod';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import classes from './page.module.css';

/** `/readyz` is not part of the contract, so it has its own schema. */
const Ready = z.looseObject({
  status: z.string(),
  database: z.string(),
  storage: z.string(),
  engine: z.string(),
  degraded: z.array(z.string()),
});
const LABELS: Record<string, string> = { ok: 'Working', degraded: 'Degraded', down: 'Down', stopping: 'Stopping' };

export function Readiness() {
  const ready = useQuery({
    queryKey: ['readyz'],
    refetchInterval: 10_000,
    queryFn: async ({ signal }) => Ready.parse(await (await fetch('/readyz', { signal })).json()),
  });
  if (ready.isError) return <ProblemNotice error={ready.error} onRetry={() => void ready.refetch()} />;
  if (ready.data === undefined) return <Skeleton h={84} />;
  const { status, database, storage, engine, degraded } = ready.data;
  const engineName = engine === 'embedded' ? 'Built in' : 'Temporal';
  const isEngineUp = !degraded.includes('engine');
  const others = degraded.filter((part) => !['storage', 'engine'].includes(part));
  const parts = [
    { name: 'Service', state: status, good: status === 'ok' },
    { name: 'Database', state: database, good: database === 'ok' },
    { name: 'Storage', state: storage, good: storage === 'ok' },
    { name: 'Engine', state: isEngineUp ? engineName : `${engineName}: down`, good: isEngineUp },
    ...others.map((part) => ({ name: capitalized(part), state: 'down', good: false })),
  ];
  return (
    <dl className={classes.parts}>
      {parts.map(({ name, state, good }) => (
        <div key={name} className={classes.part} data-good={good || undefined}>
          <Text component="dt" size="sm" c="dimmed">
            {name}
          </Text>
          <Text component="dd" fw={600} m={0}>
            {LABELS[state] ?? state}
          </Text>
        </div>
      ))}
    </dl>
  );
}

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
