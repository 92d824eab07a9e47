import type { Log, Service } from './service.ts';
import type { TracingSettings } from './settings.ts';

let isStarted = false;

/** Whether this process exports its spans. */
export const isTracing = (): boolean => isStarted;

/** Exports the spans of this process until disposed. Without settings it loads no SDK, and spans cost nothing. */
export async function startTracing(
  settings: TracingSettings | null,
  service: Service,
  log: Log,
): Promise<AsyncDisposable | null> {
  if (settings === null) return null;
  isStarted = true;
  const { exportSpans } = await import('./export-spans.ts');
  return exportSpans(settings, service, log);
}
