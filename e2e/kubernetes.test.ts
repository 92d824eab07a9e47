import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { readImage } from './compose.ts';
import { readAsServer, readAsWorker, WORKER_STOP_SECONDS } from './deployed-settings.ts';
import type { Settings } from './service.ts';

const folder = resolve(import.meta.dirname, '../deploy/kubernetes');
const Resource = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });
const resources = readdirSync(folder).flatMap((file) =>
  parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document) => Resource.parse(document.toJS())),
);
const find = <Shape extends z.ZodType>(shape: Shape, kind: string, name: string) =>
  shape.parse(resources.find((resource) => resource.kind === kind && resource.metadata.name === name));

const Probe = z.object({
  httpGet: z.object({ path: z.string(), port: z.string() }),
  periodSeconds: z.number(),
  failureThreshold: z.number().default(3),
});
const Container = z.looseObject({
  image: z.string(),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).default([]),
  envFrom: z.array(z.record(z.string(), z.object({ name: z.string() }))),
  ports: z.tuple([z.object({ name: z.string(), containerPort: z.number() })]),
  livenessProbe: Probe,
  readinessProbe: Probe.optional(),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
});
const Deployment = z.object({
  spec: z.object({
    template: z.object({
      spec: z.looseObject({ terminationGracePeriodSeconds: z.number(), containers: z.tuple([Container]) }),
    }),
  }),
});
const ConfigMap = z.object({ data: z.record(z.string(), z.string()) });
const Ports = z.object({ spec: z.object({ ports: z.array(z.object({ port: z.number() })) }) });

/** The Secrets of docs/self-hosting.md. */
const SECRETS: Record<string, Settings> = {
  'review-server': {
    SECRET_KEY: 's'.repeat(64),
    WORKER_TOKEN: 'w'.repeat(64),
    DATABASE_URL: 'postgres://review:password@postgres/review',
  },
  'review-worker': { WORKER_TOKEN: 'w'.repeat(64) },
};

/** A pod and the environment of its container. */
function readPod(name: 'server' | 'worker') {
  const { spec: pod } = find(Deployment, 'Deployment', `review-${name}`).spec.template;
  const [container] = pod.containers;
  const environment = { ...readImage(name).environment };
  for (const source of container.envFrom) {
    if (source['configMapRef'])
      Object.assign(environment, find(ConfigMap, 'ConfigMap', source['configMapRef'].name).data);
    if (source['secretRef']) Object.assign(environment, SECRETS[source['secretRef'].name]);
  }
  for (const { name: variable, value = 'from-the-pod' } of container.env) environment[variable] = value;
  return { pod, container, environment };
}

test('the programs accept their settings, ignore none, and have time to stop', () => {
  const server = readPod('server');
  const { config, ignored } = readAsServer(server.environment);
  expect(ignored).toEqual([]);
  expect(config).toMatchObject({
    production: true,
    engine: 'temporal',
    database: { dialect: 'postgres' },
    trustProxy: 1,
  });
  expect(config.storageUrl).toMatch(/^s3:/);
  expect(server.pod.terminationGracePeriodSeconds).toBeGreaterThan(config.drainSeconds + config.shutdownSeconds);
  const { periodSeconds, failureThreshold } = Probe.parse(server.container.readinessProbe);
  expect(config.drainSeconds).toBeGreaterThan(periodSeconds * failureThreshold);
  expect(server.container.ports[0].containerPort).toBe(config.port);

  const worker = readPod('worker');
  const read = readAsWorker(worker.environment);
  expect(read.ignored).toEqual([]);
  expect(worker.pod.terminationGracePeriodSeconds).toBeGreaterThan(WORKER_STOP_SECONDS);
  expect(worker.container.ports[0].containerPort).toBe(read.config.port);
  const { hostname, port } = new URL(read.config.serverUrl);
  expect(find(Ports, 'Service', hostname).spec.ports.map((each) => String(each.port))).toContain(port);
});

test.each(['server', 'worker'] as const)('pods of the %s are probed, confined, and write to volumes only', (name) => {
  const { pod, container } = readPod(name);
  expect(pod).toMatchObject({
    securityContext: { runAsNonRoot: true, runAsUser: 10001 },
    automountServiceAccountToken: false,
  });
  expect(container).toMatchObject({
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    livenessProbe: { httpGet: { path: '/healthz', port: container.ports[0].name } },
    startupProbe: { httpGet: { path: '/healthz', port: container.ports[0].name } },
  });
  expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual(['/data', '/tmp']);
});

test('a server that is not ready gets no requests', () => {
  expect(readPod('server').container.readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'http' });
});

test('the ingress forwards everything but metrics and the worker API', () => {
  const Ingress = z.object({
    spec: z.object({
      rules: z.tuple([
        z.object({
          http: z.object({
            paths: z.array(
              z.object({
                path: z.string(),
                backend: z.object({ service: z.looseObject({ name: z.string() }) }),
              }),
            ),
          }),
        }),
      ]),
    }),
  });
  const [{ http }] = find(Ingress, 'Ingress', 'review').spec.rules;
  const targets = http.paths.map(({ path, backend }) => [path, backend.service.name]);
  expect(targets).toEqual([
    ['/metrics', 'review-not-public'],
    ['/worker', 'review-not-public'],
    ['/', 'review-server'],
  ]);
  for (const [, service = ''] of targets) expect(find(Ports, 'Service', service).spec.ports).toHaveLength(1);
});
