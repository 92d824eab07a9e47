import { readFileSync } from 'node:fs';
import { createSettingsReader, type Environment } from '@review/contract/settings';
import { expect, test } from 'vitest';
import { tracingSettings } from './settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

function read(environment: Environment) {
  const reader = createSettingsReader(environment);
  return { settings: tracingSettings(reader), faults: reader.faults };
}

test.each([
  [{}],
  [{ OTEL_SERVICE_NAME: 'review', OTEL_TRACES_SAMPLER: 'always_on' }],
  [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }],
  [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
])('%o exports no traces', (environment) => {
  expect(read(environment)).toEqual({ settings: null, faults: [] });
});

test('an endpoint is enough; all is kept unless the caller decides otherwise', () => {
  const settings = { sampler: 'parentbased_always_on', ratio: 1, timeoutMs: 3000 };
  expect(read(ENDPOINT)).toEqual({ settings, faults: [] });
  expect(read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/v1/traces' })).toEqual({ settings, faults: [] });
});

test('sampler and timeout are read; the timeout of traces has priority', () => {
  const given = {
    ...ENDPOINT,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_EXPORTER_OTLP_TIMEOUT: '5000',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '100',
  };
  expect(read(given).settings).toEqual({ sampler: 'parentbased_traceidratio', ratio: 0.25, timeoutMs: 100 });
});

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', ['collector:4318', 'grpc://collector', 'collector']],
  ['OTEL_SDK_DISABLED', ['yes', '1']],
  ['OTEL_TRACES_EXPORTER', ['jaeger', 'console']],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', ['grpc', 'http/protobuf']],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', ['grpc']],
  ['OTEL_TRACES_SAMPLER', ['sometimes', 'jaeger_remote']],
  ['OTEL_TRACES_SAMPLER_ARG', ['2', '-1', 'half']],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', ['0', '10001', 'soon']],
])('an invalid %s is reported', (name, values) => {
  for (const value of values) {
    const { faults } = read({ ...ENDPOINT, [name]: value });
    expect([value, faults.map((fault) => fault.split(':')[0])]).toEqual([value, [name]]);
  }
});

test('every variable is in the documentation', () => {
  const readFile = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
  const names = Array.from(readFile('./settings.ts').matchAll(/'(OTEL_[A-Z_]+)'/g), ([, name]) => name);
  const listed = readFile('../../../docs/self-hosting.md');
  expect(names.length).toBeGreaterThan(8);
  expect(names.filter((name) => !listed.includes(`\`${name}\``))).toEqual([]);
});
