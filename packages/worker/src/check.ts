import { Family as FamilyName } from '@review/contract';
import { pino } from 'pino';
import { ADAPTERS } from './families/index.ts';
import { openFamilies } from './families/open.ts';
import { sandboxFamily } from './families/sandbox.ts';
import type { ProviderSettings } from './provider-settings.ts';

const TIMEOUT_MS = 30_000;

/** Makes one call that costs nothing under the family's account, and returns the outcome as one line for the operator. */
export async function checkFamily(
  name: string,
  readSettings: () => ProviderSettings,
): Promise<{ works: boolean; line: string }> {
  const known = FamilyName.safeParse(name);
  if (!known.success) {
    return { works: false, line: `Unknown family "${name}". Use one of: ${FamilyName.options.join(', ')}.` };
  }
  // Adapters only log what a provider says about the account; this logger collects it for the answer.
  const said: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => void said.push(String(JSON.parse(line).said)) });
  const sandbox = sandboxFamily({ jobMs: 0, now: Date.now });
  const settings = readSettings();
  const { family } = openFamilies(settings, sandbox, log);
  const account = settings.accounts[known.data];
  const broken = (why: string) => ({ works: false, line: `${name}: ${why}` });

  if (account.state === 'sandbox')
    return broken(`no key is set, so the sandbox is used. Set ${ADAPTERS[known.data].keySettings}.`);
  if (account.state === 'misconfigured') return broken(`misconfigured: ${account.reason}`);
  const { probe } = family(known.data, null);
  if (probe === undefined) return broken('this provider has no call that costs nothing.');
  try {
    return { works: true, line: `${name}: works; ${await probe(AbortSignal.timeout(TIMEOUT_MS))}.` };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return broken(said.length === 0 ? message : `the account is refused: ${said.join(' ')}`);
  }
}
