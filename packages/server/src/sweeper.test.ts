import { readdirSync } from 'node:fs';
import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import { secondsFromNow } from './db/time.ts';
import {
  cancel,
  complete,
  deleteForGood,
  KINDS,
  newProject,
  putParts,
  sent,
  start,
  storedBytes,
  upload,
  uploadFile,
} from './rooms/uploads/test/uploads.ts';
import { startSweeper, sweep } from './sweeper.ts';
import { eventually } from './test/eventually.ts';
import { type House, onEachDatabase, refusal } from './test/house.ts';

const bytes = Buffer.from('some bytes');

const clientOf = (house: House) => house.people.owner.client;
const get = (house: House, id: string) => clientOf(house).files.get({ params: { id } });

const uploadRow = (house: House, id: string) =>
  house.deps.db.selectFrom('uploads').selectAll().where('id', '=', id).executeTakeFirst();

/** The number of files and directories of the storage with one of these names. */
function kept(house: House, ...names: (string | null | undefined)[]): number {
  const paths = readdirSync(house.deps.config.storageUrl.replace(/^file:/, ''), { recursive: true }).map(String);
  return paths.filter((path) => names.some((name) => name && path.includes(name))).length;
}

const endTime = (house: House, id: string, seconds = -1) =>
  house.deps.db
    .updateTable('uploads')
    .set({ expires_at: secondsFromNow(seconds) })
    .where('id', '=', id)
    .execute();

const pendingDeletions = (house: House, id: string) =>
  house.deps.db.selectFrom('pending_blob_deletions').selectAll().where('storage_key', '=', id).execute();

onEachDatabase(
  (house) => {
    describe.each(KINDS)('an unfinished upload (%s)', (kind) => {
      const unfinished = async () => {
        const started = await start(clientOf(house()), kind, house().projectId, { size: 3000 });
        await putParts(started, Buffer.alloc(3000), started.parts.slice(0, 2));
        return { id: started.id, folder: (await uploadRow(house(), started.id))?.storage_upload };
      };

      test('that has expired is deleted with its parts', async () => {
        const { id, folder } = await unfinished();
        expect(kept(house(), folder)).toBeGreaterThan(2);
        await endTime(house(), id);
        await sweep(house().deps);
        expect(await uploadRow(house(), id)).toBeUndefined();
        expect(kept(house(), folder, id)).toBe(0);
        if (kind === 'FX') await refusal(get(house(), id), 'NOT_FOUND');
      });

      test('stays with its parts until it expires', async () => {
        const { id, folder } = await unfinished();
        await endTime(house(), id, 60);
        const before = kept(house(), folder);
        await sweep(house().deps);
        expect(await uploadRow(house(), id)).toBeDefined();
        expect(kept(house(), folder)).toBe(before);
      });
    });

    test.each(['CA', 'GA'] as const)('an expired unused %s is deleted with its blob', async (kind) => {
      const id = await upload(clientOf(house()), kind, house().projectId, bytes);
      expect(kept(house(), id)).toBe(1);
      await endTime(house(), id);
      await sweep(house().deps);
      expect(await uploadRow(house(), id)).toBeUndefined();
      expect(kept(house(), id)).toBe(0);
    });

    test('a used comment attachment stays', async () => {
      const id = await upload(clientOf(house()), 'CA', house().projectId, bytes);
      const params = { id: house().projectId };
      await clientOf(house()).comments.create({ params, body: { attachments: [{ id }] } });
      await endTime(house(), id);
      await sweep(house().deps);
      const { data } = await clientOf(house()).attachments.download({ params: { id } });
      expect(await (await fetch(data.url)).text()).toBe('some bytes');
    });

    test('the attachment of a deleted comment is deleted with its blob', async () => {
      const id = await upload(clientOf(house()), 'CA', house().projectId, bytes);
      const params = { id: house().projectId };
      const comment = await clientOf(house()).comments.create({ params, body: { attachments: [{ id }] } });
      await clientOf(house()).comments.delete({ params: { id: comment.data.id } });
      await sweep(house().deps);
      expect(kept(house(), id)).toBe(0);
    });

    test('the attachments of comments on a deleted file are deleted once they expire', async () => {
      const fileId = await uploadFile(house());
      const id = await upload(clientOf(house()), 'CA', house().projectId, bytes);
      await clientOf(house()).comments.createOnFile({ params: { id: fileId }, body: { attachments: [{ id }] } });
      await deleteForGood(clientOf(house()), fileId);
      await endTime(house(), id);
      await sweep(house().deps);
      expect(kept(house(), id, fileId)).toBe(0);
    });

    test('a completed file stays with its blob', async () => {
      const id = await uploadFile(house(), bytes);
      await endTime(house(), id);
      await sweep(house().deps);
      await sweep(house().deps);
      expect((await get(house(), id)).data.status).toBe('UPLOADED');
      expect((await storedBytes(house(), id)).equals(bytes)).toBe(true);
    });

    test('a canceled file stays listed, its parts are deleted', async () => {
      const { id } = await sent(clientOf(house()), 'FX', house().projectId, bytes);
      const folder = (await uploadRow(house(), id))?.storage_upload;
      await cancel(clientOf(house()), id);
      await sweep(house().deps);
      expect((await get(house(), id)).data.status).toBe('CANCELED');
      expect(kept(house(), folder, id)).toBe(0);
    });

    test('the blob of a deleted file is deleted, and its download URL stops working', async () => {
      const id = await uploadFile(house(), bytes);
      const { url } = (await clientOf(house()).files.download({ params: { id } })).data;
      await deleteForGood(clientOf(house()), id);
      await sweep(house().deps);
      expect(kept(house(), id)).toBe(0);
      expect((await fetch(url)).status).toBe(404);
    });

    test('a project whose deletion is due is deleted with all blobs', async () => {
      const projectId = await newProject(house());
      const names: (string | null | undefined)[] = [];
      for (const kind of KINDS) {
        const { id } = await sent(clientOf(house()), kind, projectId, bytes);
        names.push(id, (await uploadRow(house(), id))?.storage_upload);
        names.push(await upload(clientOf(house()), kind, projectId, bytes));
      }
      expect(kept(house(), ...names)).toBeGreaterThanOrEqual(names.length - KINDS.length);
      await clientOf(house()).projects.delete({ params: { id: projectId } });
      await sweep(house().deps);
      expect((await clientOf(house()).files.list({ params: { id: projectId } })).data).toHaveLength(2);
      const projects = house()
        .deps.db.updateTable('projects')
        .set({ deletes_at: secondsFromNow(-1) });
      await projects.where('id', '=', projectId).execute();
      await sweep(house().deps);
      await refusal(clientOf(house()).projects.get({ params: { id: projectId } }), 'NOT_FOUND');
      expect(kept(house(), ...names)).toBe(0);
    });

    test.each(['abort', 'remove'] as const)(
      'blobs whose %s fails are deleted once the storage recovers',
      async (call) => {
        const id = await uploadFile(house(), bytes);
        const spy = vi.spyOn(house().deps.storage, call).mockRejectedValue(new Error('the storage is away'));
        try {
          await deleteForGood(clientOf(house()), id);
          await sweep(house().deps);
          expect(spy).toHaveBeenCalled();
          expect([kept(house(), id), (await pendingDeletions(house(), id)).length]).toEqual([1, 1]);
        } finally {
          spy.mockRestore();
        }
        await sweep(house().deps);
        expect([kept(house(), id), (await pendingDeletions(house(), id)).length]).toEqual([0, 0]);
      },
    );

    test('a blob that cannot be deleted does not block others', async () => {
      const [stuck, free] = [await uploadFile(house(), bytes), await uploadFile(house(), bytes)];
      for (const id of [stuck, free]) await deleteForGood(clientOf(house()), id);
      const { storage } = house().deps;
      const remove = storage.remove.bind(storage);
      using _stuck = vi.spyOn(storage, 'remove').mockImplementation(async (key) => {
        if (key === stuck) throw new Error('the storage is away');
        return remove(key);
      });
      await sweep(house().deps);
      expect([kept(house(), stuck), kept(house(), free)]).toEqual([1, 0]);
    });

    test('a deletion that an older server has scheduled is carried out', async () => {
      const { deps } = house();
      await deps.storage.put('older-server', Buffer.from('obsolete'));
      const insert = () =>
        sql`insert into doomed_blobs (storage_key, storage_upload, doomed_at)
          values ('older-server', null, '2020-01-01 00:00:00.000000') on conflict (storage_key) do nothing`.execute(
          deps.db,
        );
      await insert();
      await insert();
      expect(await pendingDeletions(house(), 'older-server')).toHaveLength(1);
      await sweep(deps);
      expect([kept(house(), 'older-server'), await pendingDeletions(house(), 'older-server')]).toEqual([0, []]);
    });

    test('one sweep deletes all pending blobs, in any number', async () => {
      const projectId = await newProject(house());
      const made = await Promise.all(Array.from({ length: 110 }, () => start(clientOf(house()), 'FX', projectId)));
      const row = { storage_upload: null, scheduled_at: '2020-01-01 00:00:00.000000' };
      const blobs = Array.from({ length: 110 }, (_, index) => ({ ...row, storage_key: `gone-${index}` }));
      await house().deps.db.insertInto('pending_blob_deletions').values(blobs).execute();
      for (const { id } of made) await endTime(house(), id);
      await sweep(house().deps);
      expect((await clientOf(house()).files.list({ params: { id: projectId } })).data).toEqual([]);
      const left = house().deps.db.selectFrom('pending_blob_deletions').select('storage_key');
      expect(await left.where('storage_key', 'like', 'gone-%').execute()).toEqual([]);
    });

    test('an upload that is completed just before it would be swept keeps its blob', async () => {
      const { id, sent: parts } = await sent(clientOf(house()), 'FX', house().projectId, bytes);
      await endTime(house(), id, -3600);
      const { db } = house().deps;
      let transactions = 0;
      const late = new Proxy(db, {
        get(target, name) {
          const value = Reflect.get(target, name);
          if (name !== 'transaction') return typeof value === 'function' ? value.bind(target) : value;
          return () => ({
            // The sweep has found the upload stale by now.
            async execute(work: Parameters<ReturnType<typeof db.transaction>['execute']>[0]) {
              transactions += 1;
              if (transactions === 1) await complete(clientOf(house()), id, parts);
              return db.transaction().execute(work);
            },
          });
        },
      });
      await sweep({ ...house().deps, db: late });
      expect(transactions).toBeGreaterThan(0);
      expect((await get(house(), id)).data.status).toBe('UPLOADED');
      expect((await storedBytes(house(), id)).equals(bytes)).toBe(true);
    });

    test('concurrent sweeps have the same result as one', async () => {
      const id = await uploadFile(house(), bytes);
      const { id: stale } = await start(clientOf(house()), 'FX', house().projectId);
      await endTime(house(), stale);
      await deleteForGood(clientOf(house()), id);
      await Promise.all(Array.from({ length: 4 }, () => sweep(house().deps)));
      expect(kept(house(), id)).toBe(0);
      await refusal(get(house(), stale), 'NOT_FOUND');
    });

    test('the next sweep waits for one that is slow', async () => {
      const id = await uploadFile(house(), bytes);
      await deleteForGood(clientOf(house()), id);
      const storage = { ...house().deps.storage, abort: async () => {} };
      const { promise: removed, resolve: goOn } = Promise.withResolvers<void>();
      const begun: string[] = [];
      storage.remove = (key) => {
        begun.push(key);
        return removed;
      };
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const sweeper = startSweeper({ ...house().deps, storage });
      vi.advanceTimersByTime(60 * 60_000);
      vi.useRealTimers();
      await eventually(async () => begun.length > 0, 'the deletion');
      // Meanwhile, any others would have come as far.
      await sweep({ ...house().deps, storage: { ...storage, remove: async () => {} } });
      expect(begun).toEqual([id]);
      goOn();
      sweeper[Symbol.dispose]();
    });

    test('idempotency keys older than 24 hours are deleted, newer ones kept', async () => {
      const row = { fingerprint: 'f', claim: 'c', response: 'null' };
      const keys = house()
        .deps.db.insertInto('idempotency_keys')
        .values([
          { ...row, scope: 'old', claimed_at: secondsFromNow(-86_401) },
          { ...row, scope: 'young', claimed_at: secondsFromNow(-86_300) },
        ]);
      await keys.execute();
      await sweep(house().deps);
      const left = await house()
        .deps.db.selectFrom('idempotency_keys')
        .select('scope')
        .where('scope', 'in', ['old', 'young'])
        .execute();
      expect(left).toEqual([{ scope: 'young' }]);
    });
  },
  { UPLOAD_PART_SIZE: '1000', LOG_LEVEL: 'fatal' },
);
