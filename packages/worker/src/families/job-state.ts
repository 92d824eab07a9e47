import type { Vendor } from './refusal.ts';

/** The words of a provider for the states of a job. Every other word means that the job is still running. */
export interface StatusWords {
  running: readonly string[];
  succeeded: readonly string[];
  failed: readonly string[];
}

interface JobAnswer {
  status: string | undefined;
  /** Whether the answer holds a result, and whether it says why there is none: read where there is no status. */
  hasResult: boolean;
  hasError: boolean;
}

/** Only the status decides, as long as there is one: error and result count in the end states only. */
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

/** Once per word: a job is polled often, and the operator should learn why it does not end. */
function reportUnknown(vendor: Vendor, status: string): void {
  const key = `${vendor.name} ${status}`;
  if (reported.has(key) || reported.size > 1000) return;
  reported.add(key);
  vendor.log.warn(
    { provider: vendor.name, status: status.slice(0, 100) },
    'unknown job status: the job counts as running',
  );
}
