import { type Family, type ProviderRefusal, timestampOf } from '@review/contract';

const latest = new Map<Family, ProviderRefusal>();

/** A provider refused the account itself: the next heartbeat tells the operator. */
export function recordRefusal({ family, type, message }: Omit<ProviderRefusal, 'at'>): void {
  latest.set(family, { family, type, message: message.slice(0, 1000), at: timestampOf(Date.now()) });
}

/** The last refusal of each family since this worker started. */
export const latestRefusals = (): ProviderRefusal[] => [...latest.values()];
