import { readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { perFamily } from '@review/contract';
import {
  createSettingsReader,
  type Environment,
  logLevel,
  type SettingsReader,
  temporalSettings,
  wholeNumber,
} from '@review/contract/settings';
import { type TracingSettings, tracingSettings } from '@review/tracing';
import { z } from 'zod';
import { ADAPTERS } from './families/index.ts';
import { findDecoder, findFfmpegFault } from './media/find-decoder.ts';
import type { Decoder } from './media/read-order.ts';
import { accountReader, modelMap, onUnknownSubmit, type ProviderSettings } from './provider-settings.ts';

interface Config {
  /** Identifies this worker in the server's log and reports. */
  name: string;
  serverUrl: string;
  token: string;
  /** The port of /healthz and /metrics; null serves neither. */
  port: number | null;
  logLevel: string;
  /** Null exports no traces. */
  tracing: TracingSettings | null;
  /** The maximum of concurrent generations. */
  concurrency: number;
  /** The maximum of files whose media is read at once, each in a process of its own. 0 leaves media to other workers. */
  mediaConcurrency: number;
  /** What decodes video and sound. */
  decoder: Decoder;
  /** How long a job of the sandbox provider runs before it renders its file. */
  sandboxMs: number;
  /** Holds results between download and upload. Removed when the worker ends. */
  workDirectory: string;
  /** Whether webhooks may be on this host and use http, for development. */
  allowsLoopbackWebhooks: boolean;
  providers: ProviderSettings;
  /** The TEMPORAL_* settings, which Temporal's own configuration loader reads. */
  temporal: Record<string, string>;
}

/** Reads only the provider settings, which need no server. */
export function readProviders(environment: Environment): ProviderSettings {
  const reader = createSettingsReader(environment);
  return reader.requireNoFaults(readProviderSettings(reader));
}

function readProviderSettings({ value, setting }: SettingsReader): ProviderSettings {
  const reader = accountReader({ value, setting });
  return {
    accounts: perFamily((family) => ADAPTERS[family].readAccount(reader)),
    modelMap: setting('PROVIDER_MODEL_MAP', modelMap, '{}'),
    onUnknownSubmit: setting('ON_UNKNOWN_SUBMIT', onUnknownSubmit, ''),
  };
}

/** Reads every setting. Throws a `ConfigError` that lists each invalid or missing setting and what to write. */
export function readConfig(environment: Environment, host: { name: string; pid: number }): Config {
  const reader = createSettingsReader(environment);
  const { faults, value, setting } = reader;

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

  return reader.requireNoFaults<Config>({
    name: setting('WORKER_NAME', z.string().max(255, 'at most 255 characters'), `${host.name}:${host.pid}`),
    serverUrl: setting('SERVER_URL', serverUrl, 'http://127.0.0.1:3000'),
    token: readToken(),
    port: setting('WORKER_PORT', port, 'off'),
    concurrency: setting('WORKER_CONCURRENCY', wholeNumber(1, 1000), '20'),
    mediaConcurrency: setting('MEDIA_CONCURRENCY', wholeNumber(0, 100), String(availableParallelism())),
    decoder: setting('FFMPEG_PATH', decoder, ''),
    sandboxMs: setting('SANDBOX_MILLISECONDS', wholeNumber(0, 3_600_000), '1500'),
    workDirectory: join(resolve(value('WORK_DIR') ?? tmpdir()), `review-worker-${host.pid}`),
    allowsLoopbackWebhooks: setting('WEBHOOK_LOOPBACK', z.enum(['on', 'off'], 'write on or off'), 'off') === 'on',
    providers: readProviderSettings(reader),
    temporal: temporalSettings(environment),
    logLevel: setting('LOG_LEVEL', logLevel, 'info'),
    tracing: tracingSettings(reader),
  });
}

const decoder = z.string().transform((given, context): Decoder => {
  if (given === '') return findDecoder(null);
  const path = resolve(given);
  const message = findFfmpegFault(path);
  if (message !== null) context.addIssue({ code: 'custom', message });
  return findDecoder(path);
});

const serverUrl = z.url({
  protocol: /^https?$/,
  error: 'write the address of the server, such as http://127.0.0.1:3000',
});

const port = z
  .string()
  .regex(/^(off|\d{1,5})$/, 'write off, or a port from 0 to 65535')
  .transform((text) => (text === 'off' ? null : Number(text)))
  .refine((number) => number === null || number <= 65_535, 'write off, or a port from 0 to 65535');
