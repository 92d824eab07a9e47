import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/**
 * The folders and top-level files of each package, lowest layer first. Each imports only from layers listed before its
 * own, types included; tests may import from anywhere.
 */
const LAYERS: Record<string, string[]> = {
  'packages/server/src': [
    'create-directory.ts describe-error.ts single-flight.ts',
    'db notify processes open-log.ts',
    'accounts config',
    'request credentials',
    'storage',
    'deps.ts',
    'metrics.ts',
    'rooms',
    'backup doctor http',
    'pages open-deps.ts listen.ts sweeper.ts',
    'tools',
    'app.ts',
    'commands main.ts',
  ],
  'packages/worker/src': [
    'drain.ts remove-directory.ts semaphore.ts server-version.ts',
    'health.ts media metrics.ts pipeline.ts policy.ts provider-settings.ts public-address.ts refusals.ts register.ts stale-directories.ts step-error.ts',
    'disk-errors.ts documents workflows',
    'sandbox',
    'families',
    'check.ts config.ts steps',
    'media-tasks webhooks',
    'engines',
    'bundle-workflows.ts run-worker.ts',
    'main.ts',
  ],
  'apps/dev-console/src': [
    'bounds.ts content-policy.ts problem-shape.ts saved-key.ts ts-rest.ts zod-json-schema.ts',
    'connection',
    'api.ts ui',
    'api-mutation.ts models reactions session',
    'live uploads',
    'attachments shell',
    'health projects sign-in skills',
    'access-links folders members review webhooks',
    'comments events',
    'files',
    'generation versions',
    'routes.tsx',
    'main.tsx',
  ],
};

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;
const isTest = (path: string) => /\.test\.tsx?$|(^|\/)test\//.test(path);

function* faultsIn(root: string, layers: string[]): Generator<string> {
  const layerOf = new Map(layers.flatMap((units, layer) => units.split(' ').map((unit) => [unit, layer] as const)));
  const unitOf = (path: string) => path.split('/')[0] ?? '';
  for (const file of globSync('**/*.{ts,tsx}', { cwd: root }).filter((path) => !isTest(path))) {
    const from = layerOf.get(unitOf(file));
    if (from === undefined) {
      yield `${root}/${file}: give ${unitOf(file)} a place in scripts/import-layers.ts`;
      continue;
    }
    for (const [, path = ''] of readFileSync(join(root, file), 'utf8').matchAll(IMPORT)) {
      const target = relative(root, resolve(root, dirname(file), path));
      const to = layerOf.get(unitOf(target));
      if (to === undefined || unitOf(target) === unitOf(file)) continue;
      if (to >= from) yield `${root}/${file} imports ${target}, which is not in a lower layer`;
    }
  }
}

const faults = Object.entries(LAYERS).flatMap(([root, layers]) => [...faultsIn(root, layers)]);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
