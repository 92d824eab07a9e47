import { readConfig as readServerConfig } from '../packages/server/src/config/config.ts';
import { readConfig as readWorkerConfig } from '../packages/worker/src/config.ts';
import { onThisHost } from './compose.ts';
import type { Settings } from './service.ts';

/** The worker ends running steps this long after the signal (`shutdownForceTime`). */
export const WORKER_STOP_SECONDS = 40;

/** Read by Node.js and the AWS library, not by the configuration. */
const OF_LIBRARIES = ['NODE_ENV', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];

/** The configuration that a program reads from the environment of its container, and the variables that it does not read. */
function readWith<Config extends object>(container: Settings, readConfig: (environment: Settings) => Config) {
  const environment = onThisHost(container, '/data');
  const asked = new Set<string>();
  const recorded = new Proxy(environment, {
    get(target, name) {
      asked.add(String(name));
      return Reflect.get(target, name);
    },
    // Temporal's settings are found by their prefix: listing all names must not count as reading them.
    ownKeys: (target) => Object.keys(target).filter((name) => name.startsWith('TEMPORAL_')),
  });
  const config = readConfig(recorded);
  return {
    config,
    ignored: Object.keys(environment).filter((name) => !asked.has(name) && !OF_LIBRARIES.includes(name)),
  };
}

export const readAsServer = (container: Settings) => readWith(container, readServerConfig);
export const readAsWorker = (container: Settings) =>
  readWith(container, (environment) => readWorkerConfig(environment, { name: 'host', pid: 1 }));
