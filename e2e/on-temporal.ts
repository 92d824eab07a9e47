import { afterAll, beforeAll, describe } from 'vitest';
import { Service, type Settings } from './service.ts';
import { lacksTemporal, TemporalServer } from './temporal-server.ts';

/** Tasks whose workflow is missing are started again after a second. */
export const RECONCILE_QUICKLY = { RECONCILE_SECONDS: '1' };

interface OnTemporal {
  temporal(): TemporalServer;
  /** Starts a service under the Temporal server. */
  start(settings?: Settings): Promise<Service>;
}

/** Runs the tests with one Temporal server. Skips them if the machine has none. */
export function onTemporal(title: string, tests: (context: OnTemporal) => void): void {
  describe.skipIf(lacksTemporal())(title, () => {
    let temporal: TemporalServer | undefined;
    beforeAll(async () => {
      temporal = await TemporalServer.start();
    });
    afterAll(() => temporal?.[Symbol.asyncDispose]());
    const started = () => {
      if (temporal === undefined) throw new Error('Temporal is not started yet.');
      return temporal;
    };
    tests({
      temporal: started,
      start: (settings = {}) => Service.start({ ...RECONCILE_QUICKLY, ...settings }, { temporal: started() }),
    });
  });
}
