import { seal, unseal } from '../../config/seal.ts';
import type { Deps } from '../../deps.ts';
import { listSealedSecrets, updateSealedSecrets } from './queries.ts';

/** Encrypts the secrets of webhooks with the current SECRET_KEY that were written with the previous one. Unreadable ones are kept. */
export async function rekeyWebhooks({ db, secrets }: Pick<Deps, 'db' | 'secrets'>): Promise<void> {
  const [current, ...previous] = secrets.webhooks;
  if (previous.length === 0) return;
  for (let afterId = ''; ; ) {
    const webhooks = await listSealedSecrets(db, afterId);
    for (const { id, sealed_secret: sealed, sealed_previous_secret: former } of webhooks) {
      const again = (text: string) => {
        if (unseal([current], id, text) !== null) return text;
        const secret = unseal(secrets.webhooks, id, text);
        return secret === null ? text : seal(secrets.webhooks, id, secret);
      };
      const renewed = { sealed_secret: again(sealed), sealed_previous_secret: former && again(former) };
      if (renewed.sealed_secret === sealed && renewed.sealed_previous_secret === former) continue;
      await updateSealedSecrets(db, { id, was: sealed, ...renewed });
    }
    const last = webhooks.at(-1);
    if (last === undefined) return;
    afterId = last.id;
  }
}
