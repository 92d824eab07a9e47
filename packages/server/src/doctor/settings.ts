import type { Config } from '../config/config.ts';
import { type Check, failed, type Outcome, ok, warning } from './finding.ts';

/** The minimum of S3 for all parts but the last. */
const MIN_S3_PART_BYTES = 5 * 1024 ** 2;

interface Rule {
  applies(config: Config): boolean;
  outcome: Outcome;
}

const isLocal = (address: string) => ['localhost', '127.0.0.1', '[::1]'].includes(new URL(address).hostname);
const hasTemporal = ({ temporal }: Config) =>
  ['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'].some((name) => temporal[name] !== undefined);

/** Combinations of valid settings that do not work together, or not as intended. */
const RULES: Rule[] = [
  {
    applies: ({ production, publicUrl }) => production && isLocal(publicUrl),
    outcome: failed(
      'PUBLIC_URL is an address of this machine, so that other hosts cannot use the URLs in responses.',
      'Set PUBLIC_URL to the address that callers use.',
    ),
  },
  {
    applies: ({ production, publicUrl }) => production && publicUrl.startsWith('http:') && !isLocal(publicUrl),
    outcome: warning(
      'PUBLIC_URL is http: keys and files cross the network unencrypted.',
      'Put a proxy with TLS in front, and set PUBLIC_URL to its https address.',
    ),
  },
  {
    applies: ({ publicUrl, trustProxy }) => publicUrl.startsWith('https:') && trustProxy === false,
    outcome: warning(
      'PUBLIC_URL is https, so a proxy is in front, but TRUST_PROXY is off: all callers share the rate limits of its address.',
      'Set TRUST_PROXY to the number of proxies.',
    ),
  },
  {
    applies: ({ production, rateLimits }) => production && rateLimits === null,
    outcome: warning('RATE_LIMITS is off in production.', 'Remove it, or write higher numbers.'),
  },
  {
    applies: ({ production, drainSeconds }) => production && drainSeconds === 0,
    outcome: warning(
      'DRAIN_SECONDS is 0: a proxy sends requests to a server that has stopped.',
      'Set it to more than the proxy needs to notice.',
    ),
  },
  {
    applies: (config) => config.engine === 'embedded' && hasTemporal(config),
    outcome: warning(
      'GENERATION_ENGINE is embedded, so the TEMPORAL_ settings have no effect.',
      'Remove them, or GENERATION_ENGINE.',
    ),
  },
  {
    applies: (config) => config.engine === 'temporal' && !hasTemporal(config),
    outcome: warning(
      'GENERATION_ENGINE is temporal without TEMPORAL_ADDRESS: the default is localhost:7233.',
      'Set TEMPORAL_ADDRESS for the server and its workers.',
    ),
  },
  {
    applies: ({ storageUrl, uploadPartSize }) => storageUrl.startsWith('s3:') && uploadPartSize < MIN_S3_PART_BYTES,
    outcome: failed(
      'UPLOAD_PART_SIZE is below 5 MiB: S3 refuses to complete uploads of several parts.',
      'Set it to 5242880 or more.',
    ),
  },
  {
    applies: ({ database }) =>
      database.dialect === 'postgres' && (database.timeouts?.lock ?? 0) > (database.timeouts?.statement ?? 0),
    outcome: warning(
      'DATABASE_LOCK_SECONDS is longer than DATABASE_STATEMENT_SECONDS, which ends the statement first.',
      'Set it to less.',
    ),
  },
  {
    applies: ({ secretKey, workerToken }) => secretKey === workerToken,
    outcome: failed(
      'SECRET_KEY and WORKER_TOKEN are the same: every worker can sign URLs and decrypt access keys.',
      'Set another WORKER_TOKEN.',
    ),
  },
  {
    applies: ({ previousSecretKey }) => previousSecretKey !== null,
    outcome: warning(
      'SECRET_KEY_PREVIOUS is set: the previous key is still accepted.',
      'Remove it 24 hours after the rotation.',
    ),
  },
];

export const checkSettings: Check = ({ config }) => {
  const outcomes = RULES.filter(({ applies }) => applies(config)).map(({ outcome }) => outcome);
  return outcomes.length > 0 ? outcomes : [ok('No settings contradict each other.')];
};
