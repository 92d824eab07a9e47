import { FAMILIES, type Family, findModel } from '@review/contract';
import type { SettingsReader } from '@review/contract/settings';
import { z } from 'zod';

/** The account that the settings configure for a family. */
export type Account<Settings extends object> =
  | ({ state: 'live' } & Settings)
  | { state: 'sandbox' }
  /** The settings are incomplete. The sandbox does not replace the provider. */
  | { state: 'misconfigured'; reason: string };

export interface KeyedAccount {
  apiKey: string;
  baseUrl: string;
}

export interface ProviderSettings {
  accounts: Readonly<Record<Family, Account<object>>>;
  /** Provider model names that override the built-in ones, by model id. */
  modelMap: Readonly<Record<string, string>>;
  /** Whether a submit without an answer is repeated once; unset, the output type decides. */
  onUnknownSubmit: Readonly<Partial<Record<Family, 'fail' | 'resubmit'>>>;
}

/** Reads the settings of an account. */
export interface AccountReader extends Pick<SettingsReader, 'value' | 'setting'> {
  /** Returns the address of a provider's API, without a slash at the end. */
  address(name: string, fallback: string): string;
  /** Returns the account of a provider with one key; without the key, the family uses the sandbox. */
  keyed(key: string, address: string, fallback: string): Account<KeyedAccount>;
}

export function accountReader({ value, setting }: Pick<SettingsReader, 'value' | 'setting'>): AccountReader {
  const address: AccountReader['address'] = (name, fallback) => setting(name, baseUrl, fallback);
  return {
    value,
    setting,
    address,
    keyed(key, url, fallback) {
      const apiKey = value(key);
      return apiKey === undefined ? { state: 'sandbox' } : { state: 'live', apiKey, baseUrl: address(url, fallback) };
    },
  };
}

export const misconfigured = (reason: string) => ({ state: 'misconfigured', reason }) as const;

const isLoopback = (hostname: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

/** Whether the address is a loopback address. Only there may a key be sent without TLS. */
export const isOnThisHost = (address: string): boolean => isLoopback(URL.parse(address)?.hostname ?? '');

const baseUrl = z
  .url({ protocol: /^https?$/, error: 'write an address such as https://api.example.com' })
  .refine((address) => address.startsWith('https:') || isOnThisHost(address), 'write an address with https')
  .transform((address) => address.replace(/\/+$/, ''));

export const modelMap = z.string().transform((text, context): Record<string, string> => {
  const parsed = z.record(z.string(), z.string().min(1)).safeParse(parseJson(text));
  if (parsed.success) {
    const unknown = Object.keys(parsed.data).find((id) => findModel(id) === undefined);
    if (unknown === undefined) return parsed.data;
    context.addIssue(`unknown model ${unknown}; use the ids that List Models returns`);
  } else context.addIssue('write a JSON object such as {"seedance-2.5": "dreamina-seedance-2-5-260628"}');
  return z.NEVER;
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const ChoiceOfFamily = z.tuple([z.enum(FAMILIES), z.enum(['fail', 'resubmit'])]);

export const onUnknownSubmit = z.string().transform((text, context): ProviderSettings['onUnknownSubmit'] => {
  const pairs = text.split(',').flatMap((pair) => (pair.trim() === '' ? [] : [pair.trim().split('=')]));
  const parsed = z.array(ChoiceOfFamily).safeParse(pairs);
  if (parsed.success) return Object.fromEntries(parsed.data);
  context.addIssue('write pairs such as seedance=resubmit,gpt-image=fail');
  return z.NEVER;
});
