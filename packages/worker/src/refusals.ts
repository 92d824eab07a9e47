import { type Family, type ProviderRefusal, timestampOf } from '@review/contract';

const latest = new Map<Family, ProviderRefusal>();

/** Records that a provider refused the account. The next heartbeat reports it to the server. */
export function recordRefusal({ family, type, message }: Omit<ProviderRefusal, 'at'>): void {
  latest.set(family, { family, type, message: message.slice(0, 1000), at: timestampOf(Date.now()) });
}

/** The last refusal of each family since this worker started. */
export const latestRefusals = (): ProviderRefusal[] => [...latest.values()];
