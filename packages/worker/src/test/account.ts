import { createSettingsReader } from '@review/contract/settings';
import { expect, test } from 'vitest';
import type { FamilyDescription } from '../families/family.ts';
import { type Account, accountReader } from '../provider-settings.ts';

/** Returns the account that a family reads from these settings. */
export const accountFrom = <Settings extends object>(
  family: FamilyDescription<Settings>,
  environment: Record<string, string>,
): Account<Settings> => family.readAccount(accountReader(createSettingsReader(environment)));

/** Tests a family whose account is one key, and an address that can be set. */
export function testKeyedAccount(
  family: FamilyDescription<object>,
  names: { key: string; address: string },
  usualAddress: string,
): void {
  test(`${names.key} switches from the sandbox to the provider, and ${names.address} sets its address`, () => {
    const [key, address] = [{ [names.key]: 'k' }, { [names.address]: 'https://proxy.example.com/there/' }];
    expect(accountFrom(family, address)).toEqual({ state: 'sandbox' });
    const live = { state: 'live', apiKey: 'k' };
    expect(accountFrom(family, key)).toMatchObject({ ...live, baseUrl: usualAddress });
    expect(accountFrom(family, { ...key, ...address })).toMatchObject({
      ...live,
      baseUrl: 'https://proxy.example.com/there',
    });
    expect(family.keySettings).toContain(names.key);
  });
}
