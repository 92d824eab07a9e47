import { upload } from '@review/client';
import { expect, test } from 'vitest';
import { secondsFromNow } from '../db/time.ts';
import { readyPicture, WEBP } from '../rooms/media/test/media.ts';
import { start, uploadFile } from '../rooms/uploads/test/uploads.ts';
import { onEachDatabase } from '../test/house.ts';
import { newcomer, newProject } from '../test/people.ts';
import { review, reviewJson } from '../test/review.ts';

const UNKNOWN_ID = '0195c2de-1234-7abc-8def-0123456789ab';

interface Use {
  id: string;
  files: number;
  trash: number;
  renditions: number;
  attachments: number;
  unfinished: number;
  total: number;
}

interface Preview {
  projects: { id: string; files: number; bytes: number }[];
  trash: { files: number; bytes: number };
  uploads: number;
  blobs: number;
  events: number;
}

onEachDatabase((house) => {
  const settings = () => ({ DATABASE_URL: house().databaseUrl, STORAGE_URL: house().deps.config.storageUrl });
  const json = <Answer>(...words: string[]) => reviewJson<Answer>(settings(), ...words);
  const useOf = async (workspaceId: string) =>
    (await json<Use[]>('storage', 'use')).find(({ id }) => id === workspaceId);

  test('a workspace is shown with its numbers and its bytes', async () => {
    const { client, workspaceId } = house().people.foreigner;
    const { data: project } = await client.projects.create({ body: { name: 'Other', members: [] } });
    await upload(client, { to: { project: project.id }, source: new Uint8Array(70), name: 'a.bin' });
    expect(await json('workspace', 'show', workspaceId)).toMatchObject({
      id: workspaceId,
      name: 'Another studio',
      people: 1,
      keys: 1,
      projects: 1,
      files: 1,
      openGenerations: 0,
      storage: { files: 70, total: 70 },
    });
    const { output } = await review(settings(), 'workspace', 'show', workspaceId);
    expect(output).toContain('1 people, 1 active keys, 1 projects, 1 files, 0 open generations');
  });

  test('a person is shown by id or e-mail, with workspaces, roles and keys, but no secret', async () => {
    const person = await newcomer(house());
    const id = await newProject(house().people.owner, [[person, 'PROJECT_REVIEWER']], 'Shared');
    for (const name of [person.userId, person.email.toUpperCase()]) {
      expect(await json('user', 'show', name)).toMatchObject({
        id: person.userId,
        email: person.email,
        workspaces: [{ id: house().workspaceId, displayName: null }],
        projects: [{ id, name: 'Shared', role: 'PROJECT_REVIEWER' }],
        keys: [{ hint: person.key.slice(-4), revokedAt: null }],
        subjects: [],
      });
    }
    const { output } = await review(settings(), 'user', 'show', person.email);
    expect(output).toMatch(/^\S{36} +Shared +PROJECT_REVIEWER$/m);
    expect(output).not.toContain(person.key.slice(0, 20));
  });

  test('links are listed by workspace and project, without their keys', async () => {
    const { client, workspaceId } = house().people.owner;
    const params = { id: await newProject(house().people.owner, [], 'Linked') };
    const body = { role: 'PROJECT_MEMBER', description: 'For the client' } as const;
    const { data: link } = await client.accessLinks.create({ params, body });
    const { accessKey } = (await client.accessLinks.get({ params: link })).data;
    const { db } = house().deps;
    const { data: old } = await client.accessLinks.create({ params, body: { role: 'PROJECT_REVIEWER' } });
    await db
      .updateTable('access_links')
      .set({ expires_at: secondsFromNow(-60) })
      .where('id', '=', old.id)
      .execute();
    expect(await json('link', 'list', '--project', params.id, '--workspace', workspaceId)).toMatchObject([
      { id: link.id, role: 'PROJECT_MEMBER', description: 'For the client', projectName: 'Linked', expiresAt: null },
      { id: old.id },
    ]);
    expect(await json('link', 'list', '--workspace', house().people.foreigner.workspaceId)).toEqual([]);
    const { output } = await review(settings(), 'link', 'list');
    expect(output).toMatch(/^\S{36} +Linked +PROJECT_MEMBER +.* never expires +For the client$/m);
    expect(output).toMatch(/^\S{36} +Linked +PROJECT_REVIEWER +.* expired \d{4}.* -$/m);
    expect(output + JSON.stringify(await json('link', 'list'))).not.toContain(String(accessKey));
  });

  test('storage use counts files, trash, renditions, attachments and unfinished uploads by workspace', async () => {
    const { client, workspaceId } = house().people.owner;
    const before = await useOf(workspaceId);
    await uploadFile(house(), Buffer.alloc(100));
    const trashed = await uploadFile(house(), Buffer.alloc(30));
    await client.files.delete({ params: { id: trashed } });
    const to = { project: house().projectId, kind: 'comment' } as const;
    await upload(client, { to, source: new Uint8Array(7), name: 'a.png' });
    await start(client, 'FX', house().projectId, { size: 5000 });
    const added = (use: Use | undefined, kind: keyof Omit<Use, 'id'>) => (use?.[kind] ?? 0) - (before?.[kind] ?? 0);
    const after = await useOf(workspaceId);
    expect(
      (['files', 'trash', 'attachments', 'unfinished', 'total'] as const).map((kind) => added(after, kind)),
    ).toEqual([100, 30, 7, 5000, 137]);
    await readyPicture(house());
    expect(added(await useOf(workspaceId), 'renditions')).toBe(WEBP.length);
    const { output } = await review(settings(), 'storage', 'use');
    expect(output).toMatch(/^WORKSPACE +NAME +FILES +TRASH +RENDITIONS +ATTACHMENTS +TOTAL +UNFINISHED$/m);
  });

  test('sweep --dry-run says what a sweep deletes, and changes nothing', async () => {
    const { owner } = house().people;
    const { db } = house().deps;
    await json('sweep');
    const due = await newProject(owner, [], 'Due');
    await upload(owner.client, { to: { project: due }, source: new Uint8Array(11), name: 'a.bin' });
    await owner.client.projects.delete({ params: { id: due } });
    await db
      .updateTable('projects')
      .set({ deletes_at: secondsFromNow(-1) })
      .where('id', '=', due)
      .execute();
    const trashed = await uploadFile(house(), Buffer.alloc(30));
    await owner.client.files.delete({ params: { id: trashed } });
    await db.updateTable('files').set({ trashed_at: '2000' }).where('id', '=', trashed).execute();
    const { id: stale } = await start(owner.client, 'GA', house().projectId, { size: 5 });
    await db.updateTable('uploads').set({ expires_at: '2000' }).where('id', '=', stale).execute();
    for (let repeated = 0; repeated < 2; repeated++) {
      expect(await json<Preview>('sweep', '--dry-run')).toMatchObject({
        dryRun: true,
        projects: [{ id: due, name: 'Due', files: 1, bytes: 11 }],
        trash: { files: 1, bytes: 30 },
        uploads: 1,
        blobs: 0,
        events: 0,
        acts: 0,
        blobsAreHeld: false,
      });
    }
    const { output } = await review(settings(), 'sweep');
    expect(output).toMatch(/^Deleted:\n1 projects\n[\s\S]*1 files in the trash \(30 bytes\)/);
    expect(await json<Preview>('sweep', '--dry-run')).toMatchObject({ projects: [], trash: { files: 0 }, uploads: 0 });
    expect(await house().deps.storage.sizeOf(trashed)).toBeNull();
  });

  test.each([
    [['workspace', 'show', UNKNOWN_ID], /no workspace 0195/],
    [['workspace', 'show', 'Studio'], /no workspace Studio/],
    [['user', 'show', 'nobody@example.com'], /no person nobody@example.com/],
    [['user', 'show', UNKNOWN_ID], /no person 0195/],
    [['link', 'list', '--project', 'x'], /--project: write the id of a project/],
    [['link', 'list', '--workspace', 'x'], /no workspace x/],
  ])('%j exits with 1 and says what is wrong', async (words, message) => {
    const { code, errors } = await review(settings(), ...words);
    expect([code, errors]).toEqual([1, expect.stringMatching(message)]);
  });
});
