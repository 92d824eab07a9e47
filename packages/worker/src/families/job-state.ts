import type { Vendor } from './refusal.ts';

/** A provider's status values by job state. Any other value counts as running. */
export interface StatusWords {
  running: readonly string[];
  succeeded: readonly string[];
  failed: readonly string[];
}

interface JobAnswer {
  status: string | undefined;
  /** `hasResult` and `hasError` decide only where the answer has no status. */
  hasResult: boolean;
  hasError: boolean;
}

/** Returns the state of a job by its status; without a status, by its result or error. */
export function jobState(
  vendor: Vendor,
  words: StatusWords,
  { status, hasResult, hasError }: JobAnswer,
): 'running' | 'succeeded' | 'failed' {
  if (status === undefined) {
    if (hasResult) return 'succeeded';
    return hasError ? 'failed' : 'running';
  }
  if (words.succeeded.includes(status)) return 'succeeded';
  if (words.failed.includes(status)) return 'failed';
  if (!words.running.includes(status)) reportUnknown(vendor, status);
  return 'running';
}

const reported = new Set<string>();

/** Logs each unknown status once, because a job is polled often. */
function reportUnknown(vendor: Vendor, status: string): void {
  const key = `${vendor.name} ${status}`;
  if (reported.has(key) || reported.size > 1000) return;
  reported.add(key);
  vendor.log.warn(
    { provider: vendor.name, status: status.slice(0, 100) },
    'unknown job status: the job counts as running',
  );
}
