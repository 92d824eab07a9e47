import type { Family } from '@review/contract';
import type { Double } from './double.ts';
import { startHunyuan } from './hunyuan3d.ts';
import { startMeshy } from './meshy.ts';

export interface StartedDouble {
  families: Family[];
  double: Double;
  /** What makes a worker take the double for its vendor. */
  settings: Record<string, string>;
}

/** Every vendor that has a double; one more is one more entry. */
const STARTS: (() => Promise<StartedDouble>)[] = [
  async () => {
    const double = await startMeshy();
    return { families: ['meshy'], double, settings: { MESHY_API_KEY: double.key, MESHY_BASE_URL: double.url } };
  },
  async () => {
    const double = await startHunyuan();
    const settings = {
      TENCENTCLOUD_SECRET_ID: double.secretId,
      TENCENTCLOUD_SECRET_KEY: 'secret',
      HUNYUAN_ENDPOINT: double.url,
    };
    return { families: ['hunyuan3d'], double, settings };
  },
];

export const startDoubles = (): Promise<StartedDouble[]> => Promise.all(STARTS.map((start) => start()));
