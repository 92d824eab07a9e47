import { FAMILIES, type Family as FamilyName, type FamilyState, type Provider } from '@review/contract';
import type { Logger } from 'pino';
import type { Account, ProviderSettings } from '../provider-settings.ts';
import { StepError } from '../step-error.ts';
import type { AdapterContext } from './adapter-context.ts';
import { document } from './document.ts';
import type { Family } from './family.ts';
import { geminiImage } from './gemini-image.ts';
import { gptImage } from './gpt-image.ts';
import { hunyuan3d } from './hunyuan3d.ts';
import { kling } from './kling.ts';
import { meshy } from './meshy.ts';
import { minimax } from './minimax.ts';
import { toStepError } from './refusal.ts';
import { seedance } from './seedance.ts';
import { veo } from './veo.ts';

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

  function openFamily<Settings extends object>(
    name: FamilyName,
    account: Account<Settings>,
    adapter: (account: Settings, context: AdapterContext) => Family,
  ): Opened {
    if (account.state === 'sandbox') return { family: sandbox, state: { state: 'sandbox' } };
    // The log names the account that a provider's message is about.
    const own = log.child({ family: name, account: hostOf(account) });
    if (account.state === 'live')
      return { family: adapter(account, { log: own, providerModelId }), state: { state: 'live' } };
    return { family: refusingFamily(account.reason, own), state: account };
  }

  const families: Record<FamilyName, Opened> = {
    document: openFamily('document', accounts.document, document),
    'gpt-image': openFamily('gpt-image', accounts['gpt-image'], gptImage),
    'gemini-image': openFamily('gemini-image', accounts['gemini-image'], geminiImage),
    seedance: openFamily('seedance', accounts.seedance, seedance),
    kling: openFamily('kling', accounts.kling, kling),
    minimax: openFamily('minimax', accounts.minimax, minimax),
    veo: openFamily('veo', accounts.veo, veo),
    meshy: openFamily('meshy', accounts.meshy, meshy),
    hunyuan3d: openFamily('hunyuan3d', accounts.hunyuan3d, hunyuan3d),
  };
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
