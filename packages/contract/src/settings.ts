import { z } from 'zod';

// Settings of the server and the worker. They have an export path of their own, so that clients do not load them.

export class ConfigError extends Error {
  override name = 'ConfigError';
}

export type Environment = Readonly<Record<string, string | undefined>>;

export type SettingsReader = ReturnType<typeof createSettingsReader>;

/** Parses settings and collects the faults of all of them, so that one error reports them together. */
export function createSettingsReader(environment: Environment) {
  const faults: string[] = [];
  const value = (name: string) => environment[name]?.trim() || undefined;

  /** Returns the parsed setting. For an invalid one, records a fault and returns the fallback. */
  function setting<T>(name: string, schema: z.ZodType<T>, fallback: string): T {
    const parsed = schema.safeParse(value(name) ?? fallback);
    if (parsed.success) return parsed.data;
    faults.push(`${name}: ${parsed.error.issues[0]?.message ?? 'not valid'}`);
    return schema.parse(fallback);
  }

  /** Returns the settings, or throws a `ConfigError` that lists all faults. */
  function requireNoFaults<T>(settings: T): T {
    if (faults.length === 0) return settings;
    throw new ConfigError(`The settings are not valid:\n  ${[...new Set(faults)].join('\n  ')}`);
  }
  return { faults, value, setting, requireNoFaults };
}

/** Loads a settings file, if there is one, with Node's `process.loadEnvFile`. */
export function loadSettingsFile(file: string | undefined, load: (file: string) => void): void {
  try {
    if (file) load(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new ConfigError(`The settings cannot be read from ${file}: ${reason}`);
  }
}

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `write a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((number) => number >= min && number <= max, `write a whole number from ${min} to ${max}`);

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export const logLevel = z.enum(LOG_LEVELS, `write one of ${LOG_LEVELS.join(', ')}`);

/** The TEMPORAL_* variables, which Temporal's own library reads. */
export const temporalSettings = (environment: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith('TEMPORAL_') && value ? [[name, value]] : [],
    ),
  );
