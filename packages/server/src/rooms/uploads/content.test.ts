import { randomBytes, randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type House, onEachDatabase } from '../../test/house.ts';
import { resume, startSecondServer } from './test/resume.ts';
import { KINDS, upload } from './test/uploads.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const HTML = Buffer.from('<!doctype html><html><script>alert(1)</script></html>');

const uploadRow = (house: House, id: string) =>
  house.deps.db.selectFrom('uploads').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

const namesIn = (folder: string) => readdirSync(folder, { recursive: true }).map(String);

onEachDatabase(
  (house) => {
    const client = () => house().people.owner.client;
    const storageFolder = () => house().deps.config.storageUrl.replace(/^file:/, '');

    describe.each(KINDS)('%s', (kind) => {
      test.each([
        ['PNG bytes declared as text/html', PNG, 'text/html', 'image/png'],
        ['PNG bytes declared as nothing', PNG, undefined, 'image/png'],
        ['HTML declared as image/png', HTML, 'image/png', 'text/plain'],
        ['HTML declared as text/html', HTML, 'text/html', 'text/plain'],
        ['Markdown declared as such', Buffer.from('# Cut 3\n'), 'text/markdown', 'text/markdown'],
        ['bytes of no known type', Buffer.from([0, 1, 2, 3, 0]), 'video/mp4', 'application/octet-stream'],
      ])('the type is sniffed from the content: %s', async (_, bytes, mimeType, shown) => {
        const id = await upload(client(), kind, house().projectId, bytes, mimeType === undefined ? {} : { mimeType });
        expect((await uploadRow(house(), id)).mime_type).toBe(shown);
      });

      test('the storage key is the id, never user input', async () => {
        const id = await upload(client(), kind, house().projectId, PNG, { name: `typed-by-${kind}.png` });
        const names = namesIn(storageFolder());
        expect(names.filter((name) => name.includes(id))).toHaveLength(1);
        expect(names.filter((name) => name.includes('typed-by'))).toEqual([]);
      });
    });

    test('a ZIP-based document is detected by an entry after the first 10,000 bytes', async () => {
      const type = 'application/vnd.oasis.opendocument.text';
      const archive = zip({ 'cover.bin': randomBytes(10_000), mimetype: Buffer.from(type) });
      const id = await upload(client(), 'FX', house().projectId, archive);
      expect((await client().files.get({ params: { id } })).data.mimeType).toBe(type);
    });

    test('an interrupted upload continues at a restarted server: 10 random sizes', async () => {
      await using second = await startSecondServer(house());
      for (let round = 0; round < 10; round++) {
        const kind = KINDS[round % KINDS.length] ?? 'FX';
        await resume(house(), second, kind, randomInt(1, 9000));
      }
    });
  },
  { UPLOAD_PART_SIZE: '1000' },
);

/** A ZIP archive with uncompressed entries. */
const zip = (entries: Record<string, Buffer>): Buffer =>
  Buffer.concat(
    Object.entries(entries).flatMap(([name, content]) => {
      const header = Buffer.alloc(30);
      header.write('PK\u0003\u0004', 'latin1');
      header.writeUInt16LE(20, 4);
      header.writeUInt32LE(content.length, 18);
      header.writeUInt32LE(content.length, 22);
      header.writeUInt16LE(name.length, 26);
      return [header, Buffer.from(name), content];
    }),
  );
