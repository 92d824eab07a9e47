import { listQueues, type QueueDeps } from '../rooms/generation/waiting.ts';
import { listLiving } from '../rooms/workers/queries.ts';

interface WorkersHealth {
  status: 'ok' | 'degraded';
  /** Workers with a recent heartbeat. */
  alive: number;
  /** Generations that no living worker can make. */
  waiting: number;
}

/** For readiness: degraded while no worker is alive, or work waits that none of them can do. */
export async function workersHealth(deps: QueueDeps): Promise<WorkersHealth> {
  const [living, queues] = await Promise.all([listLiving(deps.db, deps.clock), listQueues(deps)]);
  const waiting = queues.reduce((sum, { withoutWorker }) => sum + withoutWorker, 0);
  return { status: living.length > 0 && waiting === 0 ? 'ok' : 'degraded', alive: living.length, waiting };
}
