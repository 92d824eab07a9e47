import { releaseVersion } from '../config/release.ts';
import { listPaused } from '../rooms/generation/paused-families.ts';
import { openTemporal } from '../rooms/generation/temporal-client.ts';
import { providersOf } from '../rooms/workers/providers.ts';
import { listWorkers, type StoredWorker } from '../rooms/workers/queries.ts';
import { type Check, type Diagnosed, failed, ok, warning } from './finding.ts';
import { workersHealth } from './workers-health.ts';

export const checkEngine: Check = async ({ config }) => {
  if (config.engine === 'embedded') return [ok('The embedded engine runs generations.')];
  const temporal = await openTemporal(config.temporal);
  try {
    if (await temporal.isReachable()) return [ok('Temporal answers.')];
  } finally {
    await temporal.close();
  }
  return [
    failed(
      'Temporal does not answer. Generations are accepted and wait for it.',
      'Start Temporal, and compare TEMPORAL_ADDRESS and the other TEMPORAL_ settings with it.',
    ),
  ];
};

const livingWorkers = async ({ db, clock }: Diagnosed) => (await listWorkers(db, clock)).filter(({ alive }) => alive);

export const checkWorkers: Check = async (deps) => {
  const living = await livingWorkers(deps);
  if (living.length === 0)
    return [
      failed(
        'No worker is alive. Generations wait, and webhooks are not sent.',
        "Start a worker with the server's WORKER_TOKEN and address (SERVER_URL).",
      ),
    ];
  const { waiting } = await workersHealth(deps);
  const names = living.map((worker) => `${worker.name} (${liveFamilies(worker)})`);
  return [
    ok(`Alive: ${names.join(', ')}.`),
    ...(waiting > 0
      ? [
          warning(
            `${waiting} generations wait for a worker with the key of their family.`,
            'Start a worker with that key; `review providers` shows the families.',
          ),
        ]
      : []),
  ];
};

function liveFamilies({ families, draining_since: drainingSince }: StoredWorker): string {
  if (drainingSince !== null) return `draining since ${drainingSince}`;
  const live = families.flatMap(({ family, state }) => (state === 'live' ? [family] : []));
  return live.length > 0 ? `live: ${live.join(', ')}` : 'sandbox only';
}

export const checkVersions: Check = async (deps) => {
  const version = releaseVersion();
  const living = await livingWorkers(deps);
  const others = living.filter((worker) => worker.version !== version);
  if (others.length === 0) return [ok(`This server${living.length > 0 ? ' and its workers are' : ' is'} ${version}.`)];
  const names = others.map((worker) => `${worker.name} is ${worker.version ?? 'of an unknown release'}`);
  return [
    warning(
      `This server is ${version}, but ${names.join(', ')}.`,
      'Finish the upgrade: first the servers, then restart the workers. A worker that is newer than the server may take no work until then.',
    ),
  ];
};

/** Reads what workers report. Only they have the keys, so that the advice names their own check. */
export const checkProviders: Check = async ({ db, clock, config }) => {
  const families = providersOf(await listWorkers(db, clock), config.generation);
  const live = families.filter(({ state }) => state === 'live').map(({ family }) => family);
  const paused = await listPaused(db);
  return [
    ok(live.length > 0 ? `Live: ${live.join(', ')}.` : 'No family is live.'),
    ...paused.map(({ family, reason, paused_at: at }) =>
      warning(
        `${family} is paused since ${at}${reason === null ? '' : `: ${reason}`}. Its generations wait.`,
        `\`review providers resume ${family}\` starts them.`,
      ),
    ),
    ...families.flatMap(({ family, state, reason, refusal }) => {
      const advice = `Correct the settings of ${family} on its workers; \`npm run worker -- check ${family}\` tries its account.`;
      if (state === 'misconfigured') return [failed(`${family} is misconfigured: ${reason}`, advice)];
      if (refusal === null) return [];
      const { worker, at, type, message } = refusal;
      return [warning(`${family} refused the account of ${worker} at ${at} (${type}): ${message}`, advice)];
    }),
  ];
};
