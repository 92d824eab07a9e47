import { expect, test } from 'vitest';
import { onEachDatabase, refusal } from '../../../test/house.ts';
import { workerOf } from '../../generation/test/generations.ts';
import { attempt, FACTS, finish } from '../../media/test/media.ts';
import { upload } from '../../uploads/test/uploads.ts';

/** The fewest bytes that are detected as MP4. */
const MP4 = Buffer.from('0000001c667479706d703432000000006d7034326973656d64617461', 'hex');

onEachDatabase((house) => {
  const client = () => house().people.owner.client;
  const exportOf = (id: string, format?: 'csv' | 'edl') =>
    client().comments.exportOnFile({ params: { id }, query: format === undefined ? {} : { format } });
  const say = async (id: string, content: string, own: { anchor?: number; parent?: { id: string } } = {}) =>
    (await client().comments.createOnFile({ params: { id }, body: { content, ...own } })).data;

  async function newVideo(): Promise<string> {
    const held = await attempt(
      house(),
      await upload(client(), 'FX', house().projectId, MP4, { name: 'Schnitt ä.mp4' }),
    );
    const facts = { ...FACTS, durationMs: 120_000, frameRate: { numerator: 30_000, denominator: 1001 } };
    await workerOf(house()).recordFacts({ params: { id: held.id }, body: { epoch: held.epoch, facts } });
    await finish(house(), held);
    return held.id;
  }

  test('a download that is named after the file, ordered by time', async () => {
    const id = await newVideo();
    await say(id, 'Without a time');
    await say(id, 'Later', { anchor: 61_000 });
    const first = await say(id, 'Earlier', { anchor: 1000 });
    await say(id, 'A reply', { parent: first });
    await client().comments.resolve({ params: { id: first.id } });
    const response = await house().request('restricted', 'GET', `/api/files/${id}/comments/export?format=csv`);
    expect(response.status).toBe(404);
    const shown = await house().request('reviewer', 'GET', `/api/files/${id}/comments/export?format=csv`);
    expect([shown.status, shown.headers.get('content-type'), shown.headers.get('content-disposition')]).toEqual([
      200,
      'text/csv; charset=utf-8',
      `attachment; filename="Schnitt _.csv"; filename*=UTF-8''Schnitt%20%C3%A4.csv`,
    ]);
    const rows = (await shown.text()).split('\r\n').slice(1, -1);
    const name = (await client().members.list({ params: { id: house().projectId } })).data.find(
      ({ user }) => user.id === house().people.owner.userId,
    )?.user.name;
    expect(rows.map((row) => row.replace(/,[^,]*$/, ''))).toEqual([
      `1,,00:00:00;29,,29,${name},Earlier,resolved`,
      `1.1,,,,,${name},A reply,`,
      `2,,00:01:01;00,,1828,${name},Later,open`,
      `3,,,,,${name},Without a time,open`,
    ]);
    expect(await exportOf(id, 'edl')).toContain('* LOC: 00:01:01;00 RED');
  });

  test('a deleted comment is left out, and keeps only its replies', async () => {
    const id = await newVideo();
    const [gone, parent] = [await say(id, 'Gone'), await say(id, 'Parent')];
    await say(id, 'Reply', { parent });
    for (const { id: comment } of [gone, parent]) await client().comments.delete({ params: { id: comment } });
    const csv = await exportOf(id);
    expect(csv).not.toMatch(/Gone|Parent/);
    expect(csv).toMatch(/1\.1,.*Reply/);
  });

  test('5000 comments arrive in order and complete', { timeout: 60_000 }, async () => {
    const id = await newVideo();
    const { db } = house().deps;
    const rows = Array.from({ length: 5000 }, (_, index) => ({
      id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      project_id: house().projectId,
      file_id: id,
      author_id: house().people.owner.userId,
      content: `Comment ${index}`,
      anchor: (index * 7919) % 5000,
      created_at: '2026-11-16 09:30:00.000000',
      updated_at: '2026-11-16 09:30:00.000000',
    }));
    for (let start = 0; start < rows.length; start += 500)
      await db
        .insertInto('comments')
        .values(rows.slice(start, start + 500))
        .execute();
    const lines = (await exportOf(id)).split('\r\n').slice(1, -1);
    expect(lines.map((line) => Number(/Comment (\d+)/.exec(line)?.[1]))).toEqual(
      rows.toSorted((a, b) => a.anchor - b.anchor).map(({ content }) => Number(content.slice(8))),
    );
    await db.deleteFrom('comments').where('file_id', '=', id).execute();
  });

  test('a format with frames needs a frame rate', async () => {
    const id = await upload(client(), 'FX', house().projectId, Buffer.from('# Text'), { name: 'notes.md' });
    await refusal(exportOf(id, 'edl'), 'FRAME_RATE_UNKNOWN');
    expect(await exportOf(id)).toContain('Number,Page');
    const response = await house().request('owner', 'GET', `/api/files/${id}/comments/export?format=pdf`);
    expect(response.status).toBe(400);
  });
});
