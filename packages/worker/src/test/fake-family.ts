import { writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import type { Family } from '../families/family.ts';
import { Metrics } from '../metrics.ts';
import type { StepContext } from '../steps/context.ts';
import { KnownTasks } from '../steps/known-tasks.ts';
import { StepLog } from '../steps/step-log.ts';
import type { FakeServer } from './fake-server.ts';

export interface CountedFamily extends Family {
  /** The client job ids of the submits. */
  orders: string[];
  canceled: string[];
}

/** A live provider that succeeds at once, with overrides for tests. */
export function fakeFamily(own: Partial<Family> = {}): CountedFamily {
  const [orders, canceled]: string[][] = [[], []];
  const family: Family = {
    provider: 'live',
    stages: () => ['submit'],
    check: () => {},
    submit: async () => ({ job: { id: 'job-1' } }),
    poll: async () => ({ state: 'succeeded', output: {} }),
    cancel: async ({ job }) => void canceled?.push(job.id),
    download: ({ path }) => writeFile(path, 'content'),
    ...own,
  };
  return {
    ...family,
    orders: orders ?? [],
    canceled: canceled ?? [],
    submit(call) {
      orders?.push(call.clientJobId);
      return family.submit(call);
    },
  };
}

export const contextOf = (server: FakeServer, family: Family): StepContext => ({
  server: server.client,
  family: () => family,
  onUnknownSubmit: {},
  log: pino({ level: 'silent' }),
  metrics: new Metrics(),
  workDirectory: server.folder,
  signal: new AbortController().signal,
  tasks: new KnownTasks(),
  isServerOlder: () => false,
  unrecorded: new Map(),
  steps: new StepLog('test', 1),
});
