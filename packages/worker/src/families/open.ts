import { FAMILIES, type Family as FamilyName, type FamilyState, type Provider, perFamily } from '@review/contract';
import type { Logger } from 'pino';
import type { ProviderSettings } from '../provider-settings.ts';
import { StepError } from '../step-error.ts';
import type { AdapterContext } from './adapter-context.ts';
import type { Family } from './family.ts';
import { ADAPTERS } from './index.ts';
import { toStepError } from './refusal.ts';

export interface Families {
  /** Returns the adapter for the provider; for null, the vendor if this worker has its key, else the sandbox. */
  family(name: FamilyName, provider: Provider | null): Family;
  states: FamilyState[];
}

interface Opened {
  family: Family;
  state: Omit<FamilyState, 'family'>;
}

/** Opens the adapter of each family with an account; families without one use the sandbox. */
export function openFamilies({ accounts, modelMap }: ProviderSettings, sandbox: Family, log: Logger): Families {
  const providerModelId: AdapterContext['providerModelId'] = (model, usual) => modelMap[model] ?? usual;

  function openFamily(name: FamilyName): Opened {
    const account = accounts[name];
    if (account.state === 'sandbox') return { family: sandbox, state: { state: 'sandbox' } };
    // The log names the account that a provider's message is about.
    const own = log.child({ family: name, account: hostOf(account) });
    if (account.state === 'misconfigured') return { family: refusingFamily(account.reason, own), state: account };
    return { family: ADAPTERS[name].open(account, { log: own, providerModelId }), state: { state: 'live' } };
  }

  const families = perFamily(openFamily);
  return {
    family(name, provider) {
      const { family, state } = families[name];
      if (provider === null) return family;
      if (provider === 'sandbox') return sandbox;
      if (state.state === 'live') return family;
      throw new StepError('NOT_MINE', `This worker has no key for ${name}.`, NOT_MINE_MS);
    },
    states: FAMILIES.map((name) => ({ family: name, ...families[name].state })),
  };
}

/** Returns the host of the account's provider, for the log. */
function hostOf(account: object): string | undefined {
  const address = 'baseUrl' in account ? account.baseUrl : 'endpoint' in account ? account.endpoint : undefined;
  return URL.parse(String(address))?.host;
}

/** The delay before another worker can take the step. */
const NOT_MINE_MS = 1000;

/** An adapter that refuses every call with AUTH. The sandbox does not step in: its result could be mistaken for the provider's. */
function refusingFamily(reason: string, log: Logger): Family {
  const refuse = () => {
    throw toStepError({ name: 'The provider', secrets: [], log }, { type: 'AUTH', words: reason });
  };
  return { provider: 'live', stages: () => ['submit'], check: refuse, submit: refuse, poll: refuse, download: refuse };
}
