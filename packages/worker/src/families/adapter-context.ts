import type { Logger } from 'pino';

/** The dependencies of every adapter, in addition to its account. */
export interface AdapterContext {
  log: Logger;
  /** The provider's name for a model: from PROVIDER_MODEL_MAP, else `usual`. */
  providerModelId(model: string, usual: string): string;
}
