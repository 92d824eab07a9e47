import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { startVendor } from '../packages/worker/src/test/vendor.ts';
import { freePort } from '../scripts/free-port.ts';
import { Service } from './service.ts';

/** Deadlines are checked every second, leases every half second. */
const LOOKED_AT_MS = 2500;

test.each([600_000, -600_000])(
  'two servers on one Postgres with %i ms clock skew: no lease and no deadline expires',
  async (ahead) => {
    await using vendor = await startVendor(60_000);
    let open = false;
    vendor.on = ({ kind }) => (kind === 'poll' && !open ? 'running' : undefined);
    const settings = {
      TEST_PROVIDER_URL: vendor.url,
      GENERATION_DEADLINES: 'DOCUMENT=300,IMAGE=300,VIDEO=300,3D=300',
    };
    await using service = await Service.start(settings, { postgres: inject('postgresUrl') });
    const port = await freePort();
    const preload = new URL('preload/jumping-clock.ts', import.meta.url);
    const other = `http://127.0.0.1:${port}`;
    await service.startServer({
      PORT: port,
      PUBLIC_URL: other,
      NODE_OPTIONS: `--import=${preload}`,
      CLOCK_AHEAD: String(ahead),
    });
    await service.startWorker('here');
    await service.startWorker('there', { SERVER_URL: other });

    const clients = [service.client, service.clientAt(other)];
    const orders = ['minimax-h3', 'kling-3.0', 'veo-3.1-generate-preview', 'hunyuan3d-3.1'].flatMap((model) =>
      clients.map((client) => service.generate(model, 'A lamp', {}, client)),
    );
    const ids = await Promise.all(orders);
    for (const id of ids) await service.waitForOrder(id);
    await sleep(LOOKED_AT_MS);
    open = true;
    for (const id of ids) {
      expect(await service.waitForEnd(id)).toMatchObject({ status: 'UPLOADED', generation: { provider: 'live' } });
      expect(vendor.paidFor(id)).toBe(1);
      expect((await service.row(id)).epoch).toBe(1);
    }
  },
);
