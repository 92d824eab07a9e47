import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { Program } from './processes.ts';
import type { Settings } from './service.ts';

const root = resolve(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const ComposeService = z.looseObject({
  image: z.string(),
  build: z
    .object({ context: z.literal('..'), dockerfile: z.string(), target: z.enum(['server', 'worker']) })
    .optional(),
  environment: z.record(z.string(), z.string()).default({}),
  networks: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).default([]),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .optional(),
});
export type ComposeService = z.infer<typeof ComposeService>;
const ComposeFile = z.looseObject({
  services: z.record(z.string(), ComposeService),
  networks: z.record(z.string(), z.unknown()).default({}),
  volumes: z.record(z.string(), z.unknown()).default({}),
});

/** The `.env` file of each compose file, as docs/self-hosting.md describes it. */
export const VARIABLES = {
  'compose.yaml': {
    PUBLIC_URL: 'https://review.example.com',
    SECRET_KEY: 's'.repeat(64),
    WORKER_TOKEN: 'w'.repeat(64),
  },
  'compose.full.yaml': {
    PUBLIC_HOST: 'review.example.com',
    SECRET_KEY: 's'.repeat(64),
    WORKER_TOKEN: 'w'.repeat(64),
    POSTGRES_PASSWORD: 'p'.repeat(64),
    TEMPORAL_POSTGRES_PASSWORD: 't'.repeat(64),
    OBJECT_STORE_SECRET: 'o'.repeat(64),
  },
};

/** A compose file of deploy/, with the variables of an `.env` file in place. Throws if a required one is missing. */
export function readCompose(file: string, variables: Settings) {
  const text = read(`deploy/${file}`);
  const interpolated = JSON.stringify(parse(text, { merge: true }), (_name, value: unknown) =>
    typeof value === 'string' ? interpolate(value, variables) : value,
  );
  return ComposeFile.parse(JSON.parse(interpolated));
}

/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, as Compose does; `$$` is a dollar sign. */
function interpolate(text: string, variables: Settings): string {
  return text.replace(/\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g, (match, name, operator, rest) => {
    if (match === '$$') return '$';
    const value = variables[name] ?? '';
    if (value === '' && operator === '-') return rest;
    if (value === '' && operator === '?') throw new Error(`${name} is missing: ${rest}`);
    return value;
  });
}

interface Stage {
  environment: Settings;
  entrypoint: string[];
  healthCheck: string[];
}

/** The environment and the commands of a target of deploy/Dockerfile, with those of the stages it is based on. */
export function readImage(target: string): Stage {
  const stage: Stage = { environment: {}, entrypoint: [], healthCheck: [] };
  const body = new RegExp(`^FROM (\\S+) AS ${target}\n(.*?)(?=^FROM |$(?![^]))`, 'ms').exec(read('deploy/Dockerfile'));
  if (body === null) return stage;
  const [, base = '', lines = ''] = body;
  Object.assign(stage.environment, readImage(base).environment);
  const words = (line: RegExp) => z.array(z.string()).parse(JSON.parse(line.exec(lines)?.[1] ?? '[]'));
  for (const [, list = ''] of lines.matchAll(/^ENV (.*)$/gm)) {
    for (const [, name = '', value = ''] of list.matchAll(/(\w+)=(\S+)/g)) stage.environment[name] = value;
  }
  stage.entrypoint = words(/^ENTRYPOINT (.*)$/m);
  stage.healthCheck = words(/^ +CMD (.*)$/m);
  return stage;
}

/** The environment of a service: that of its image and that of the compose file. */
export const environmentOf = ({ build, environment }: ComposeService): Settings => ({
  ...(build && readImage(build.target).environment),
  ...environment,
});

/** The folders of an image in this repository, and `/data` elsewhere. */
export const onThisHost = (settings: Settings, data: string): Settings =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, placeOnThisHost(value, data)]));

const placeOnThisHost = (value: string, data: string) =>
  value
    .replace(/^\/data\b/, data)
    .replace(/^\/app\/console\b/, join(root, 'apps/dev-console/dist'))
    .replace(/^\/app\/(server|worker)\b/, join(root, 'packages/$1'));

/** Runs a service of a compose file as a process: the entry point of its image with its environment, and with these addresses. */
export function runService(service: ComposeService, data: string, addresses: Settings): Program {
  const [, ...words] = readImage(service.build?.target ?? '').entrypoint;
  const settings = { ...onThisHost(environmentOf(service), data), ...addresses };
  return new Program(
    process.execPath,
    words.map((word) => placeOnThisHost(word, data)),
    settings,
  );
}
