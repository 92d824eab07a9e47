import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import type { Clock } from '../../db/clock.ts';
import { workersHealth } from '../../doctor/workers-health.ts';
import { onEachDatabase } from '../../test/house.ts';
import { watchQueue } from './queue-watch.ts';
import { emptyQueue, FILM, fileOf, generate, modelNamed, queueMany, workerOf } from './test/generations.ts';

onEachDatabase(
  (house) => {
    beforeEach(async () => {
      await emptyQueue(house());
      await house().deps.db.deleteFrom('workers').execute();
    });
    const register = () =>
      workerOf(house()).register({ body: { worker: 'box:1', families: [{ family: 'seedance', state: 'sandbox' }] } });
    const claim = () => workerOf(house()).claim({ body: { worker: 'box:1', most: 100, wait: 0 } });
    const waitingFor = async (id: string) => (await fileOf(house(), id)).generation?.waitingFor;
    const metrics = async () => (await fetch(`${house().url}/metrics`)).text();

    test('waitingFor is a worker, a slot or the family cap; then null', async () => {
      const [first, second] = [await generate(house(), FILM), await generate(house(), FILM)];
      expect(await waitingFor(first)).toBe('WORKER');
      await register();
      expect(await waitingFor(first)).toBeNull();
      await claim();
      expect(await waitingFor(first)).toBeNull();
      expect(await waitingFor(second)).toBe('SLOT');
      const { workspaceId } = house().people.foreigner;
      const [other = ''] = await queueMany(house(), [modelNamed('seedance-2.0')], workspaceId);
      expect(await waitingFor(other)).toBe('FAMILY_CAP');
      await house().people.owner.client.files.cancel({ params: { id: second } });
      expect(await waitingFor(second)).toBeNull();
    });

    test('the timeline and the lists have it too', async () => {
      const id = await generate(house(), FILM);
      const { files } = house().people.owner.client;
      expect((await files.getGeneration({ params: { id } })).data.waitingFor).toBe('WORKER');
      const listed = (await files.list({ params: { id: house().projectId } })).data;
      expect(listed.find((file) => file.id === id)?.generation?.waitingFor).toBe('WORKER');
    });

    test('metrics have the depth and age of the queue of each family, and the living workers', async () => {
      await queueMany(house(), [modelNamed('seedance-2.0'), modelNamed('seedance-2.0')]);
      await register();
      const text = await metrics();
      expect(text).toContain('generation_queue_depth{family="seedance"} 2');
      expect(text).toContain('generation_queue_depth{family="veo"} 0');
      expect(Number(/generation_queue_oldest_seconds\{family="seedance"\} (\S+)/.exec(text)?.[1])).toBeGreaterThan(60);
      expect(text).toContain('workers_alive{family="seedance",state="sandbox"} 1');
      expect(text).toContain('workers_alive{family="seedance",state="live"} 0');
    });

    test('readiness is degraded while no worker is alive or can run the queued generations', async () => {
      expect(await workersHealth(house().deps)).toEqual({ status: 'degraded', alive: 0, waiting: 0 });
      await register();
      expect(await workersHealth(house().deps)).toEqual({ status: 'ok', alive: 1, waiting: 0 });
      const id = await generate(house(), FILM);
      const { db } = house().deps;
      await db.updateTable('generations').set({ promised: 'live' }).where('file_id', '=', id).execute();
      expect(await workersHealth(house().deps)).toEqual({ status: 'degraded', alive: 1, waiting: 1 });
    });

    test('generations without a worker are logged once, and once when they no longer wait', async () => {
      const lines: { msg: string; families?: unknown }[] = [];
      let looks = 0;
      const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
      const { db, config } = house().deps;
      // Called once per check.
      const clock: Clock = (seconds) => {
        looks += 1;
        return house().deps.clock(seconds);
      };
      await generate(house(), FILM);
      using _watch = watchQueue({ db, clock, config, log }, 20);
      await expect.poll(() => looks).toBeGreaterThan(3);
      expect(lines).toMatchObject([{ level: 40, families: { seedance: 1 } }]);
      await register();
      await expect
        .poll(() => lines.map(({ msg }) => msg))
        .toEqual([
          'generations wait: no living worker can run them; start a worker, or give one the key',
          'generations no longer wait for a worker',
        ]);
    });
  },
  { GENERATION_SLOTS: 'VIDEO=1', FAMILY_CAPS: 'seedance=1' },
);
