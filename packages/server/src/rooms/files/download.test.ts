import { describe, expect, test } from 'vitest';
import { secondsFromNow } from '../../db/time.ts';
import { type House, onEachDatabase, refusal } from '../../test/house.ts';
import { cancel, start, upload, uploadFile } from '../uploads/test/uploads.ts';

const bytes = Buffer.from('0123456789');

onEachDatabase((house) => {
  const client = () => house().people.owner.client;
  const urlOf = async (id: string) => (await client().files.download({ params: { id } })).data.url;

  test('answers a signed URL on the public address, valid for an hour', async () => {
    const id = await uploadFile(house(), bytes);
    const [before, answer, after] = [
      secondsFromNow(3600),
      await client().files.download({ params: { id } }),
      secondsFromNow(3600),
    ];
    expect(Object.keys(answer.data).sort()).toEqual(['expiresAt', 'url']);
    expect(answer.data.url).toContain(`${house().url}/`);
    expect(before <= answer.data.expiresAt && answer.data.expiresAt <= after).toBe(true);
  });

  test('the URL serves the content without a credential, as a download that a browser does not run', async () => {
    const id = await uploadFile(house(), Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), {
      name: 'logo.svg',
    });
    const response = await fetch(await urlOf(id));
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('<svg xmlns="http://www.w3.org/2000/svg"/>');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="logo.svg"');
    expect(response.headers.get('content-type')).toMatch(/^image\/svg\+xml/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toContain('sandbox');
  });

  test('the download has the current name of the file, in any script', async () => {
    const id = await uploadFile(house(), bytes, { name: 'old.bin' });
    await client().files.update({ params: { id }, body: { name: 'Schnitt "3" שלום.bin' } });
    const disposition = (await fetch(await urlOf(id))).headers.get('content-disposition') ?? '';
    const [, encoded = ''] = /filename\*=UTF-8''(\S+)$/.exec(disposition) ?? [];
    expect(decodeURIComponent(encoded)).toBe('Schnitt "3" שלום.bin');
  });

  describe('ranges', () => {
    const ask = async (range: string) => fetch(await urlOf(await uploadFile(house(), bytes)), { headers: { range } });

    test.each([
      ['bytes=2-4', '234', 'bytes 2-4/10'],
      ['bytes=7-', '789', 'bytes 7-9/10'],
      ['bytes=-2', '89', 'bytes 8-9/10'],
      ['bytes=0-0', '0', 'bytes 0-0/10'],
      ['bytes=5-100', '56789', 'bytes 5-9/10'],
    ])('%s is 206', async (range, content, served) => {
      const response = await ask(range);
      expect([response.status, await response.text()]).toEqual([206, content]);
      expect(response.headers.get('content-range')).toBe(served);
    });

    test('a range past the end is 416', async () => {
      const response = await ask('bytes=10-');
      expect([response.status, response.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    });
  });

  test('an altered, extended or foreign signature is 403', async () => {
    const [one, other] = [await uploadFile(house(), bytes), await uploadFile(house(), bytes)];
    const url = await urlOf(one);
    const altered = [
      url.replace(/signature=./, (start) => (start.endsWith('A') ? 'signature=B' : 'signature=A')),
      url.replace(/&signature=[^&]*/, ''),
      url.replace(/expires=\d/, 'expires=9'),
      url.replace('clip.bin', 'clip.exe'),
      url.replace(one, other),
      `${url}&more=1`,
    ];
    expect(new Set([url, ...altered]).size).toBe(altered.length + 1);
    for (const address of altered) {
      const response = await fetch(address);
      expect([response.status, await response.json()]).toMatchObject([403, { code: 'INVALID_SIGNATURE' }]);
    }
    expect((await fetch(url, { method: 'PUT', body: 'x' })).status).not.toBe(200);
  });

  test('a file that is not UPLOADED is 409: unfinished, canceled, failed', async () => {
    const { id } = await start(client(), 'FX', house().projectId);
    const download = () => refusal(client().files.download({ params: { id } }), 'FILE_NOT_READY');
    await download();
    await setStatus(house(), id, 'FAILED');
    await download();
    await setStatus(house(), id, 'UPLOADING');
    await cancel(client(), id);
    await download();
  });

  test('every member can download, others get 404', async () => {
    const id = await uploadFile(house(), bytes);
    await client().files.update({ params: { id }, body: { allowRestricted: true } });
    for (const name of ['owner', 'manager', 'member', 'reviewer', 'restricted'] as const) {
      await house().people[name].client.files.download({ params: { id } });
    }
    for (const name of ['stranger', 'foreigner'] as const) {
      await refusal(house().people[name].client.files.download({ params: { id } }), 'NOT_FOUND');
    }
  });

  test('files:download is needed, files:read is not enough', async () => {
    const id = await upload(client(), 'FX', house().projectId, bytes);
    const reader = await house().withScopes('owner', ['files:read', 'files:write', 'comments:download']);
    await refusal(reader.client.files.download({ params: { id } }), 'INSUFFICIENT_SCOPE');
    const loader = await house().withScopes('owner', ['files:download']);
    await loader.client.files.download({ params: { id } });
  });
});

const setStatus = (house: House, id: string, status: 'FAILED' | 'UPLOADING') =>
  house.deps.db.updateTable('files').set({ status }).where('id', '=', id).execute();
