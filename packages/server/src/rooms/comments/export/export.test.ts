import type { NewFileComment, Shape } from '@review/contract';
import { extractText } from 'unpdf';
import { expect, test } from 'vitest';
import { onEachDatabase, refusal } from '../../../test/house.ts';
import { workerOf } from '../../generation/test/generations.ts';
import { attempt, FACTS, finish, sendRendition, WEBP } from '../../media/test/media.ts';
import { upload } from '../../uploads/test/uploads.ts';

/** The fewest bytes that are detected as MP4. */
const MP4 = Buffer.from('0000001c667479706d703432000000006d7034326973656d64617461', 'hex');

/** Two pictures of 32 x 18 pixels: red, then blue. */
const FILMSTRIP = Buffer.from(
  'UklGRmAAAABXRUJQVlA4IFQAAABwBACdASpAABIAPp1EnUmlo6KhLAgAsBOJYwDPJY27P+gfir+AABlGGgSxYAD+7gpnt2JuPQz/7StzMP/LIXHvLX/7aCNuf/PQc3H0K5T0sitgAAA=',
  'base64',
);

onEachDatabase((house) => {
  const client = () => house().people.owner.client;
  const exportOf = async (id: string, format?: 'csv' | 'edl') => {
    const query = format === undefined ? {} : { format };
    return (await client().comments.exportOnFile({ params: { id }, query })).text();
  };
  const say = async (id: string, content: string, own: Partial<NewFileComment> = {}) =>
    (await client().comments.createOnFile({ params: { id }, body: { content, ...own } })).data;

  async function newVideo(filmstrip?: typeof FILMSTRIP): Promise<string> {
    const held = await attempt(
      house(),
      await upload(client(), 'FX', house().projectId, MP4, { name: 'Schnitt ä.mp4' }),
    );
    const facts = { ...FACTS, durationMs: 120_000, frameRate: { numerator: 30_000, denominator: 1001 } };
    await workerOf(house()).recordFacts({ params: { id: held.id }, body: { epoch: held.epoch, facts } });
    if (filmstrip !== undefined) {
      const name = { kind: 'FILMSTRIP', variant: 0 } as const;
      const parts = await sendRendition(house(), held, name, filmstrip);
      const grid = { columns: 2, rows: 1, intervalMs: 60_000 };
      const body = { epoch: held.epoch, ...name, parts, width: 64, height: 18, filmstrip: grid };
      await workerOf(house()).completeRendition({ params: { id: held.id }, body });
    }
    await finish(house(), held);
    return held.id;
  }

  const pdfTextOf = async (exported: Promise<Blob>) =>
    (await extractText(new Uint8Array(await (await exported).arrayBuffer()), { mergePages: true })).text;
  const LINE: Shape = { type: 'LINE', from: [0.1, 0.1], to: [0.9, 0.9], color: '#00ff00', strokeWidth: 0.02 };

  test('a PDF has the nearest picture of the filmstrip, with its time', async () => {
    const id = await newVideo(FILMSTRIP);
    await say(id, 'Near the first', { anchor: 1000 });
    await say(id, 'Near the second', { anchor: 50_000, annotation: { version: 1, shapes: [LINE] } });
    await say(id, 'Near the second too', { anchor: 119_000 });
    const query = { format: 'pdf' } as const;
    const response = await house().request('reviewer', 'GET', `/api/files/${id}/comments/export?format=pdf`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    const text = await pdfTextOf(client().comments.exportOnFile({ params: { id }, query }));
    const times = text.match(/Picture at \S+/g);
    expect(times).toEqual(['00:00:00;00', '00:00:59;28', '00:00:59;28'].map((time) => `Picture at ${time}`));
    // Renditions are part of the file, and its comments alone do not open it.
    const { client: reader } = await house().withScopes('owner', ['comments:read']);
    const plain = await pdfTextOf(reader.comments.exportOnFile({ params: { id }, query }));
    expect(plain).toContain('Near the second too');
    expect(plain).not.toContain('Picture at');
    const hidden = await house().request('restricted', 'GET', `/api/files/${id}/comments/export?format=pdf`);
    expect(hidden.status).toBe(404);
  });

  test('a picture that cannot be read leaves the text', async () => {
    const id = await newVideo(WEBP);
    await say(id, 'Still here', { anchor: 1000 });
    const exported = client().comments.exportOnFile({ params: { id }, query: { format: 'pdf' } });
    expect(await pdfTextOf(exported)).toMatch(/The picture cannot be read\..*Still here/s);
  });

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

  test('a format with frames needs a frame rate', async () => {
    const id = await upload(client(), 'FX', house().projectId, Buffer.from('# Text'), { name: 'notes.md' });
    await refusal(exportOf(id, 'edl'), 'FRAME_RATE_UNKNOWN');
    expect(await exportOf(id)).toContain('Number,Page');
    const response = await house().request('owner', 'GET', `/api/files/${id}/comments/export?format=docx`);
    expect(response.status).toBe(400);
  });
});
