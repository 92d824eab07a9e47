import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { type ProviderSettings, readProviderSettings } from './provider-settings.ts';

interface Config {
  /** Identifies this worker in the server's log and reports. */
  name: string;
  serverUrl: string;
  token: string;
  /** The port of /healthz and /metrics; null serves neither. */
  port: number | null;
  logLevel: string;
  /** The maximum of concurrent generations. */
  concurrency: number;
  /** How long a job of the sandbox provider runs before it renders its file. */
  sandboxMs: number;
  /** The address of a test double that replaces every provider; null outside tests. */
  testProviderUrl: string | null;
  /** Holds results between download and upload. Removed when the worker ends. */
  workDirectory: string;
  providers: ProviderSettings;
  /** The TEMPORAL_* settings, which Temporal's own configuration loader reads. */
  temporal: Record<string, string>;
}

export class ConfigError extends Error {
  override name = 'ConfigError';
}

type Environment = Readonly<Record<string, string | undefined>>;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Collects the faults of all settings, so that one error reports them together. */
function createSettingsReader(environment: Environment) {
  const faults: string[] = [];
  const value = (name: string) => environment[name]?.trim() || undefined;

  function setting<T>(name: string, schema: z.ZodType<T>, fallback: string): T {
    const parsed = schema.safeParse(value(name) ?? fallback);
    if (parsed.success) return parsed.data;
    faults.push(`${name}: ${parsed.error.issues[0]?.message ?? 'not valid'}`);
    return schema.parse(fallback);
  }

  function requireNoFaults<T>(config: T): T {
    if (faults.length === 0) return config;
    throw new ConfigError(`The settings are not valid:\n  ${faults.join('\n  ')}`);
  }
  return { faults, value, setting, requireNoFaults };
}

/** Reads only the provider settings, which need no server. */
export function readProviders(environment: Environment): ProviderSettings {
  const { value, setting, requireNoFaults } = createSettingsReader(environment);
  return requireNoFaults(readProviderSettings(value, setting));
}

/** Reads every setting. Throws a `ConfigError` that lists each invalid or missing setting and what to write. */
export function readConfig(environment: Environment, host: { name: string; pid: number }): Config {
  const { faults, value, setting, requireNoFaults } = createSettingsReader(environment);

  function readToken(): string {
    const given = value('WORKER_TOKEN');
    if (given !== undefined) return given;
    const path = join(resolve(value('DATA_DIR') ?? '.data'), 'worker-token');
    try {
      if (value('NODE_ENV') !== 'production') return readFileSync(path, 'utf8');
    } catch {
      faults.push(`WORKER_TOKEN: write the server's token, or start the server first, which writes one to ${path}`);
      return '';
    }
    faults.push("WORKER_TOKEN: required in production; write the server's token");
    return '';
  }

  function readTestProviderUrl(): string | null {
    if (value('TEST_PROVIDER_URL') === undefined) return null;
    if (value('NODE_ENV') === 'production') faults.push('TEST_PROVIDER_URL: for tests only; not in production');
    return setting('TEST_PROVIDER_URL', serverUrl, 'http://127.0.0.1:3000');
  }

  return requireNoFaults<Config>({
    name: setting('WORKER_NAME', z.string().max(255, 'at most 255 characters'), `${host.name}:${host.pid}`),
    serverUrl: setting('SERVER_URL', serverUrl, 'http://127.0.0.1:3000'),
    token: readToken(),
    port: setting('WORKER_PORT', port, 'off'),
    concurrency: setting('WORKER_CONCURRENCY', wholeNumber(1, 1000), '20'),
    sandboxMs: setting('SANDBOX_MILLISECONDS', wholeNumber(0, 3_600_000), '1500'),
    testProviderUrl: readTestProviderUrl(),
    workDirectory: join(resolve(value('WORK_DIR') ?? tmpdir()), `review-worker-${host.pid}`),
    providers: readProviderSettings(value, setting),
    temporal: temporalSettings(environment),
    logLevel: setting('LOG_LEVEL', z.enum(LOG_LEVELS, `write one of ${LOG_LEVELS.join(', ')}`), 'info'),
  });
}

const temporalSettings = (environment: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith('TEMPORAL_') && value ? [[name, value]] : [],
    ),
  );

const serverUrl = z.url({
  protocol: /^https?$/,
  error: 'write the address of the server, such as http://127.0.0.1:3000',
});

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,12}$/, `write a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((number) => number >= min && number <= max, `write a whole number from ${min} to ${max}`);

const port = z
  .string()
  .regex(/^(off|\d{1,5})$/, 'write off, or a port from 0 to 65535')
  .transform((text) => (text === 'off' ? null : Number(text)))
  .refine((number) => number === null || number <= 65_535, 'write off, or a port from 0 to 65535');
