import { listQueues, type QueueDeps } from '../rooms/generation/waiting.ts';
import { listLiving } from '../rooms/workers/queries.ts';

interface WorkersHealth {
  status: 'ok' | 'degraded';
  /** Workers with a recent heartbeat. */
  alive: number;
  /** Queued generations that no living worker can run. */
  waiting: number;
}

/** Degraded while no worker is alive, or while generations wait that no living worker can run. */
export async function workersHealth(deps: QueueDeps): Promise<WorkersHealth> {
  const [living, queues] = await Promise.all([listLiving(deps.db, deps.clock), listQueues(deps)]);
  const waiting = queues.reduce((sum, { withoutWorker }) => sum + withoutWorker, 0);
  return { status: living.length > 0 && waiting === 0 ? 'ok' : 'degraded', alive: living.length, waiting };
}
