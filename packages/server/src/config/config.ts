import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Family, type OutputType, perFamily, TIERS, UPLOAD_LIMIT, Uuid } from '@review/contract';
import {
  createSettingsReader,
  type Environment,
  loadSettingsFile,
  logLevel,
  type SettingsReader,
  temporalSettings,
  wholeNumber,
} from '@review/contract/settings';
import { type TracingSettings, tracingSettings } from '@review/tracing';
import { z } from 'zod';
import { createDirectory } from '../create-directory.ts';
import type { DatabaseAddress } from '../db/database.ts';
import {
  consoleDirectory,
  databaseUrl,
  hostNames,
  httpUrl,
  list,
  namedNumbers,
  onOrOff,
  origins,
  secureUrl,
  storageUrl,
  trustProxy,
} from './setting-values.ts';

const RATE_LIMITS = { ...TIERS, 'failed-credentials': 30 } as const;
/** Requests per window by tier, and refused credentials per address. */
export type RateLimits = Record<keyof typeof RATE_LIMITS, number>;

/** The OAuth issuer whose access tokens are accepted beside API keys. */
export interface OAuthSettings {
  /** The exact `iss` claim of its tokens. */
  issuer: string;
  /** A token must have one of these as its `aud` claim. */
  audiences: string[];
  /** Null uses the URL of the issuer's discovery document. */
  jwksUrl: string | null;
  /** The workspace of all tokens, or the claim that contains its id. */
  workspace: { id: string } | { claim: string };
  /** The issuer's prefix of scope names. */
  scopePrefix: string;
}

export interface Config {
  production: boolean;
  host: string;
  port: number;
  publicUrl: string;
  dataDirectory: string;
  database: DatabaseAddress;
  storageUrl: string;
  secretKey: string;
  /** The previous secret key during a rotation: verifies and decrypts, never signs or encrypts. Null otherwise. */
  previousSecretKey: string | null;
  workerToken: string;
  engine: 'embedded' | 'temporal';
  generation: {
    /** The maximum of concurrent generations of a workspace, by output type. */
    slots: Record<OutputType, number>;
    /** The maximum of concurrent generations of a family, over all workspaces. */
    familyCaps: Record<Family, number>;
    /** The maximum run time of a generation, in seconds. */
    deadlines: Record<OutputType, number>;
    /** The maximum number of queued generations of a workspace. */
    queueLimit: number;
    /** The maximum time of a generation in the queue, in seconds. */
    queueDeadline: number;
    /** Whether the sandbox provider replaces families without a key. */
    sandbox: boolean;
    /** The interval of checks that open generations still have a workflow, in seconds. */
    reconcileSeconds: number;
    /** The address of the Temporal Web UI; null if there is none. */
    temporalUiUrl: string | null;
  };
  /** The TEMPORAL_* variables, which Temporal's client library reads. */
  temporal: Record<string, string>;
  /** Null turns all limits off. */
  rateLimits: RateLimits | null;
  trustProxy: boolean | number | string[];
  corsOrigins: string[];
  /** Null accepts API keys only. */
  oauth: OAuthSettings | null;
  /** Allowed hosts of the MCP endpoint, beside that of PUBLIC_URL and the loopback names. */
  toolHosts: string[];
  bodyLimit: number;
  /** The minimum size of an upload's parts, in bytes. */
  uploadPartSize: number;
  /** The maximum size of an upload, in bytes. */
  uploadLimit: number;
  /** The maximum number of concurrent long polls (`wait`) of a process; further ones are answered at once. */
  waitLimit: number;
  /** The maximum time of a long poll in seconds, below the usual proxy timeout of 60. */
  waitSeconds: number;
  /** The maximum number of open event streams of a process. */
  streamLimit: number;
  /** How long events are kept, in days. */
  eventDays: number;
  /** How long deleted files stay in the trash, in days. */
  trashDays: number;
  /** How long administrative acts are kept, in days. */
  auditDays: number;
  logLevel: string;
  /** Null exports no traces. */
  tracing: TracingSettings | null;
  /** The directory of the built console; null serves none. */
  consoleDirectory: string | null;
  /** How many processes serve the port. */
  processes: number;
  /** How long the server still accepts requests after a stop signal, so that load balancers notice that it is not ready. */
  drainSeconds: number;
  /** How long requests in flight have to finish after the drain. */
  shutdownSeconds: number;
}

const GIBIBYTE = 1024 ** 3;

/** Loads a settings file into the environment of the process, which takes precedence, and returns it. */
export function loadEnvironment(file = process.env['REVIEW_ENV_FILE']): Environment {
  loadSettingsFile(file, (path) => process.loadEnvFile(path));
  return process.env;
}

interface DataSettings {
  database: DatabaseAddress;
  storageUrl: string;
}

type WorkSettings = Pick<Config, 'engine' | 'generation' | 'temporal'>;

/** The settings that most commands need, without secrets. */
export interface CommandSettings extends DataSettings, WorkSettings {}

export function readCommandSettings(environment: Environment): CommandSettings {
  const reader = createSettingsReader(environment);
  return reader.requireNoFaults({ ...dataSettings(reader), ...workSettings(reader, environment) });
}

const dataDirectoryOf = (value: (name: string) => string | undefined) => resolve(value('DATA_DIR') ?? '.data');

function dataSettings({ setting, value }: SettingsReader): DataSettings {
  const dataDirectory = dataDirectoryOf(value);
  return {
    database: setting(
      'DATABASE_URL',
      databaseUrl({
        connections: setting('DATABASE_CONNECTIONS', wholeNumber(1, 1000), '10'),
        timeouts: {
          connect: setting('DATABASE_CONNECT_SECONDS', wholeNumber(1, 300), '5'),
          statement: setting('DATABASE_STATEMENT_SECONDS', wholeNumber(1, 3600), '15'),
          lock: setting('DATABASE_LOCK_SECONDS', wholeNumber(1, 3600), '5'),
          idleTransaction: setting('DATABASE_IDLE_TRANSACTION_SECONDS', wholeNumber(1, 3600), '15'),
        },
      }),
      `sqlite:${join(dataDirectory, 'review.db')}`,
    ),
    storageUrl: setting('STORAGE_URL', storageUrl, `file:${join(dataDirectory, 'files')}`),
  };
}

function workSettings({ setting, value }: SettingsReader, environment: Environment): WorkSettings {
  return {
    engine: setting(
      'GENERATION_ENGINE',
      z.enum(['embedded', 'temporal'], 'write embedded or temporal'),
      defaultEngine(value),
    ),
    generation: {
      slots: setting('GENERATION_SLOTS', namedNumbers({ DOCUMENT: 4, IMAGE: 4, VIDEO: 2, '3D': 2 }), 'on'),
      familyCaps: setting('FAMILY_CAPS', namedNumbers(perFamily(() => 10)), 'on'),
      deadlines: setting(
        'GENERATION_DEADLINES',
        namedNumbers({ DOCUMENT: 300, IMAGE: 600, VIDEO: 7200, '3D': 3600 }),
        'on',
      ),
      queueLimit: setting('GENERATION_QUEUE_LIMIT', wholeNumber(1, 1_000_000), '100'),
      queueDeadline: setting('GENERATION_QUEUE_DEADLINE', wholeNumber(1, 31_536_000), '86400'),
      sandbox: setting('SANDBOX_PROVIDER', onOrOff, 'on'),
      reconcileSeconds: setting('RECONCILE_SECONDS', wholeNumber(1, 86_400), '60'),
      temporalUiUrl:
        value('TEMPORAL_UI_URL') === undefined ? null : setting('TEMPORAL_UI_URL', httpUrl, 'http://localhost:8233'),
    },
    temporal: temporalSettings(environment),
  };
}

/** Parses all settings. Throws a ConfigError that lists each invalid or missing setting and its allowed values. */
export function readConfig(environment: Environment): Config {
  const reader = createSettingsReader(environment);
  const { faults, value, setting } = reader;

  const production = setting('NODE_ENV', z.string(), 'development') === 'production';
  const dataDirectory = dataDirectoryOf(value);
  const port = setting('PORT', wholeNumber(0, 65_535), '3000');

  function developmentSecret(file: string): string {
    try {
      return storedSecret(dataDirectory, file);
    } catch (error) {
      faults.push(`DATA_DIR: ${file} cannot be stored there (${error instanceof Error ? error.message : error})`);
      return '';
    }
  }

  function secret(name: 'SECRET_KEY' | 'WORKER_TOKEN', file: string, minLength: number): string {
    const given = value(name);
    if (given === undefined && !production) return developmentSecret(file);
    if (given === undefined)
      faults.push(`${name}: required in production; write at least ${minLength} random characters`);
    else if (given.length < minLength)
      faults.push(`${name}: write at least ${minLength} characters, it has ${given.length}`);
    return given ?? '';
  }

  function oauth(): OAuthSettings | null {
    if (value('OAUTH_ISSUER') === undefined) {
      const idle = Object.keys(environment).find((name) => name.startsWith('OAUTH_') && value(name));
      if (idle !== undefined) faults.push(`${idle}: has no effect without OAUTH_ISSUER`);
      return null;
    }
    const workspaceId = value('OAUTH_WORKSPACE');
    return {
      issuer: setting('OAUTH_ISSUER', secureUrl, LOCAL_URL),
      audiences: setting('OAUTH_AUDIENCE', list, [publicUrl, `${publicUrl}/`, `${publicUrl}/mcp`].join(',')),
      jwksUrl: value('OAUTH_JWKS_URL') === undefined ? null : setting('OAUTH_JWKS_URL', secureUrl, LOCAL_URL),
      workspace:
        workspaceId === undefined
          ? { claim: setting('OAUTH_WORKSPACE_CLAIM', z.string(), 'workspace') }
          : { id: setting('OAUTH_WORKSPACE', Uuid, NO_UUID) },
      scopePrefix: value('OAUTH_SCOPE_PREFIX') ?? '',
    };
  }

  const publicUrl = setting('PUBLIC_URL', httpUrl, `http://localhost:${port}`);
  const data = dataSettings(reader);
  const processes = setting('SERVER_PROCESSES', wholeNumber(1, 256), '1');
  if (processes > 1 && data.database.dialect === 'sqlite')
    faults.push('SERVER_PROCESSES: more than 1 needs Postgres; set DATABASE_URL to its address, or use 1');
  return reader.requireNoFaults<Config>({
    production,
    port,
    host: setting('HOST', z.string(), production ? '0.0.0.0' : '127.0.0.1'),
    publicUrl,
    dataDirectory,
    ...data,
    secretKey: secret('SECRET_KEY', 'secret-key', 32),
    previousSecretKey:
      value('SECRET_KEY_PREVIOUS') === undefined ? null : setting('SECRET_KEY_PREVIOUS', atLeast32, NO_UUID),
    workerToken: secret('WORKER_TOKEN', 'worker-token', 16),
    ...workSettings(reader, environment),
    rateLimits: value('RATE_LIMITS') === 'off' ? null : setting('RATE_LIMITS', namedNumbers(RATE_LIMITS), 'on'),
    trustProxy: setting('TRUST_PROXY', trustProxy, 'off'),
    corsOrigins: setting('CORS_ORIGINS', origins, 'off'),
    oauth: oauth(),
    toolHosts: setting('MCP_HOSTS', hostNames, 'off'),
    bodyLimit: setting('BODY_LIMIT', wholeNumber(1024, 100 * 1024 * 1024), String(1024 * 1024)),
    uploadPartSize: setting('UPLOAD_PART_SIZE', wholeNumber(1, 5 * GIBIBYTE), String(8 * 1024 * 1024)),
    uploadLimit: setting('UPLOAD_LIMIT', wholeNumber(1, 5000 * GIBIBYTE), String(UPLOAD_LIMIT)),
    waitLimit: setting('WAIT_LIMIT', wholeNumber(0, 100_000), '1000'),
    waitSeconds: setting('WAIT_SECONDS', wholeNumber(1, 60), '50'),
    streamLimit: setting('EVENT_STREAM_LIMIT', wholeNumber(0, 100_000), '1000'),
    eventDays: setting('EVENT_RETENTION_DAYS', wholeNumber(1, 3650), '30'),
    trashDays: setting('TRASH_RETENTION_DAYS', wholeNumber(1, 3650), '30'),
    auditDays: setting('AUDIT_RETENTION_DAYS', wholeNumber(1, 36_500), '365'),
    logLevel: setting('LOG_LEVEL', logLevel, 'info'),
    tracing: tracingSettings(reader),
    consoleDirectory: setting('CONSOLE_DIR', consoleDirectory, existsSync(BUILT_CONSOLE) ? BUILT_CONSOLE : 'off'),
    processes,
    drainSeconds: setting('DRAIN_SECONDS', wholeNumber(0, 600), production ? '5' : '0'),
    shutdownSeconds: setting('SHUTDOWN_SECONDS', wholeNumber(0, 3600), '25'),
  });
}

const LOCAL_URL = 'http://localhost';
const atLeast32 = z.string().min(32, 'write the previous SECRET_KEY, at least 32 characters');
const NO_UUID = '00000000-0000-0000-0000-000000000000';

const defaultEngine = (value: (name: string) => string | undefined) =>
  ['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'].some(value) ? 'temporal' : 'embedded';

const BUILT_CONSOLE = fileURLToPath(new URL('../../apps/dev-console/dist', import.meta.resolve('#package.json')));

/** Returns a secret that is created once and stored in the data directory. Not used in production. */
function storedSecret(dataDirectory: string, file: string): string {
  const path = join(dataDirectory, file);
  if (!existsSync(path)) {
    createDirectory(dataDirectory);
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, randomBytes(32).toString('hex'), { mode: 0o600 });
    try {
      // The link fails if another process was first: its secret is used. A reader never sees an incomplete file.
      linkSync(draft, path);
    } catch (error) {
      if (!existsSync(path)) throw error;
    } finally {
      unlinkSync(draft);
    }
  }
  return readFileSync(path, 'utf8');
}
