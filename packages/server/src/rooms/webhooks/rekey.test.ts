import { expect, test } from 'vitest';
import { seal, unseal } from '../../config/seal.ts';
import { deriveSecrets } from '../../config/secrets.ts';
import { onEachDatabase } from '../../test/house.ts';
import { rekeyWebhooks } from './rekey.ts';
import { newWebhook } from './test/receiver.ts';

const [OLD, NEW] = ['the secret of last year, 32 characters', 'the secret of this year, 32 characters'];

onEachDatabase((house) => {
  test('secrets of the previous SECRET_KEY are encrypted again, others are kept', async () => {
    const { db } = house().deps;
    const [previous, both, current] = [deriveSecrets(OLD, null), deriveSecrets(NEW, OLD), deriveSecrets(NEW, null)];
    const { id } = await newWebhook(house());
    const lost = await newWebhook(house());
    const rowOf = (webhookId: string) =>
      db.selectFrom('webhooks').selectAll().where('id', '=', webhookId).executeTakeFirstOrThrow();
    const unreadable = await rowOf(lost.id);
    const sealed = {
      sealed_secret: seal(previous.webhooks, id, 'whsec_new'),
      sealed_previous_secret: seal(previous.webhooks, id, 'whsec_former'),
    };
    await db.updateTable('webhooks').set(sealed).where('id', '=', id).execute();

    await rekeyWebhooks({ db, secrets: current });
    expect(await rowOf(id)).toMatchObject(sealed);
    await rekeyWebhooks({ db, secrets: both });
    const again = await rowOf(id);
    expect(unseal(current.webhooks, id, again.sealed_secret)).toBe('whsec_new');
    expect(unseal(current.webhooks, id, again.sealed_previous_secret ?? '')).toBe('whsec_former');
    expect(await rowOf(lost.id)).toEqual(unreadable);
    await rekeyWebhooks({ db, secrets: both });
    expect(await rowOf(id)).toEqual(again);
  });
});
