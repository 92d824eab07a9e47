import { type SettingsReader, wholeNumber } from '@review/contract/settings';
import { z } from 'zod';

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** What the exporter does not read from the environment itself. */
export interface TracingSettings {
  sampler: (typeof SAMPLERS)[number];
  /** The part of the traces that a ratio sampler keeps. */
  ratio: number;
  /** The timeout of an export, and so of a stop while the receiver hangs. */
  timeoutMs: number;
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];
const TIMEOUTS = ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'];

const httpUrl = z.url({ protocol: /^https?$/, error: 'write an http or https URL, such as http://localhost:4318' });
const httpJson = z.literal(
  'http/json',
  'write http/json, the only protocol that is supported, and the port of OTLP/HTTP',
);
const trueOrFalse = z.stringbool({ truthy: ['true'], falsy: ['false'], error: 'write true or false' });
const ratio = z
  .string()
  .transform(Number)
  .refine((number) => number >= 0 && number <= 1, 'write a number from 0 to 1');

/** Reads the variables of OpenTelemetry. Returns null if they ask for no traces: nothing is exported by default. */
export function tracingSettings({ value, setting }: SettingsReader): TracingSettings | null {
  const endpoint = ENDPOINTS.find(value);
  if (endpoint === undefined || setting('OTEL_SDK_DISABLED', trueOrFalse, 'false')) return null;
  const exporter = z.enum(['otlp', 'none'], 'write otlp or none');
  if (setting('OTEL_TRACES_EXPORTER', exporter, 'otlp') === 'none') return null;
  setting(endpoint, httpUrl, 'http://localhost:4318');
  const protocol = PROTOCOLS.find(value);
  if (protocol !== undefined) setting(protocol, httpJson, 'http/json');
  const samplers = z.enum(SAMPLERS, `write one of ${SAMPLERS.join(', ')}`);
  return {
    sampler: setting('OTEL_TRACES_SAMPLER', samplers, 'parentbased_always_on'),
    ratio: setting('OTEL_TRACES_SAMPLER_ARG', ratio, '1'),
    timeoutMs: setting(TIMEOUTS.find(value) ?? 'OTEL_EXPORTER_OTLP_TIMEOUT', wholeNumber(1, 10_000), '3000'),
  };
}
