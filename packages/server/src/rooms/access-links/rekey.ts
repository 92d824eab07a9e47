import { seal, unseal } from '../../config/seal.ts';
import type { Deps } from '../../deps.ts';
import { hashAccessKey, hashPrefix } from './access-key.ts';
import { findLinksOfOtherSecrets, updateLinkKeys } from './queries.ts';

/**
 * Hashes and encrypts the keys of links with the current SECRET_KEY if they were written with the previous one, or by a
 * release that hashed without a secret. Keys that no known secret decrypts are kept; their links cannot be redeemed.
 */
export async function rekeyAccessLinks({ db, secrets, log }: Pick<Deps, 'db' | 'secrets' | 'log'>): Promise<void> {
  const [hashKey] = secrets.accessLinkHashes;
  const prefix = hashPrefix(hashKey);
  let [rekeyed, unreadable, afterId] = [0, 0, ''];
  for (;;) {
    const links = await findLinksOfOtherSecrets(db, prefix, afterId);
    const last = links.at(-1);
    if (last === undefined) break;
    afterId = last.id;
    const readable = links.flatMap(({ id, sealed_key: sealed }) => {
      const key = unseal(secrets.accessLinks, id, sealed);
      return key === null
        ? []
        : [{ id, key_hash: hashAccessKey(hashKey, key), sealed_key: seal(secrets.accessLinks, id, key) }];
    });
    await updateLinkKeys(db, readable);
    rekeyed += readable.length;
    unreadable += links.length - readable.length;
  }
  if (rekeyed > 0) log.info({ rekeyed }, 'access links re-encrypted with the current SECRET_KEY');
  if (unreadable > 0) {
    log.warn(
      { unreadable },
      'access links of another SECRET_KEY cannot be shown or redeemed; set SECRET_KEY_PREVIOUS to it, or delete them',
    );
  }
}
