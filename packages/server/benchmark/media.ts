// `node packages/server/benchmark/media.ts`: CPU time of a list of 50 files with media, thumbnails and renditions, beside one of files
// without media; with `--facts` beside one of files with the same facts and without renditions. docs/benchmarks.md explains the figures.
import { parseArgs } from 'node:util';
import { createClient } from '@review/client';
import { NO_FACTS } from '@review/contract';
import { newId } from '../src/db/ids.ts';
import { openDatabase } from '../src/db/open.ts';
import { now } from '../src/db/time.ts';
import { median } from './measure.ts';
import { startServer } from './servers.ts';
import { createOwnSite, type Site } from './site.ts';

const FILES = 50;
const ROUNDS = 9;
const REQUESTS = 100;
const { values } = parseArgs({
  options: { postgres: { type: 'boolean', default: false }, facts: { type: 'boolean', default: false } },
});

type Added = 'renditions' | 'facts' | 'nothing';
const beside: Added = values.facts ? 'facts' : 'nothing';

/** As long as that of a photo. */
const PLACEHOLDER = `data:image/webp;base64,${'A'.repeat(140)}`;
const FACTS = { ...NO_FACTS, durationMs: 60_000, width: 1920, height: 1080, hdr: false, placeholder: PLACEHOLDER };

/** Adds 50 files like the seeded one, with their facts, or also with their renditions. */
async function addFiles({ address, seeded }: Site, projectId: string, added: Added): Promise<void> {
  await using opened = openDatabase(address, () => {});
  const { db } = opened;
  const like = await db.selectFrom('files').selectAll().where('id', '=', seeded.fileId).executeTakeFirstOrThrow();
  for (let index = 0; index < FILES; index++) {
    const id = newId('FX');
    await db
      .insertInto('files')
      .values({ ...like, id, project_id: projectId, storage_key: id, created_at: now() })
      .execute();
    if (added === 'nothing') continue;
    const [thumbnail, task] = [`${id}-thumbnail`, { build: 1, attempts: 1, epoch: 1, created_at: now() }];
    const facts = { facts: JSON.stringify(FACTS), duration_ms: 60_000, short_side: 1080 };
    await db
      .insertInto('media')
      .values({
        file_id: id,
        project_id: projectId,
        kind: 'VIDEO',
        status: 'READY',
        ...facts,
        ...task,
        thumbnail_key: added === 'facts' ? null : thumbnail,
      })
      .execute();
    if (added === 'facts') continue;
    for (const kind of ['THUMBNAIL', 'POSTER', 'FILMSTRIP'] as const) {
      const key = kind === 'THUMBNAIL' ? thumbnail : `${id}-${kind}`;
      const rendition = { file_id: id, kind, variant: 0, build: 1, storage_key: key, mime_type: 'image/webp' };
      await db
        .insertInto('renditions')
        .values({ ...rendition, width: 320, height: 180, size: 9000 })
        .execute();
    }
  }
}

await using disposed = new AsyncDisposableStack();
const site = await createOwnSite(values.postgres, 100, disposed);
const { projectId: withMedia, writtenProjectId: without, key } = site.seeded;
await addFiles(site, withMedia, 'renditions');
await addFiles(site, without, beside);
const server = disposed.use(await startServer(site.folder, site.databaseUrl));
const client = createClient({ baseUrl: server.url, token: key });

const list = async (id: string, hasMedia: boolean) => {
  const { data } = await client.files.list({ params: { id }, body: {} });
  if (data.length !== FILES || (data[0]?.thumbnailUrl !== null) !== hasMedia)
    throw new Error('the list is not as seeded');
};
const costOf = async (id: string, hasMedia: boolean): Promise<number> => {
  const cost = await site.meter.costOf(server, async () => {
    for (let request = 0; request < REQUESTS; request++) await list(id, hasMedia);
  });
  return cost.total / REQUESTS;
};

const [ours, theirs, ratios]: number[][] = [[], [], []];
for (let round = -1; round < ROUNDS; round++) {
  const first = round % 2 === 0;
  const before = first ? await costOf(withMedia, true) : await costOf(without, false);
  const after = first ? await costOf(without, false) : await costOf(withMedia, true);
  // The first round warms up.
  if (round < 0) continue;
  const [own, other] = first ? [before, after] : [after, before];
  ours?.push(own);
  theirs?.push(other);
  ratios?.push(own / other);
}
console.log(`${values.postgres ? 'Postgres' : 'SQLite'}\n
| | CPU µs | with ${beside} | ratio |
| --- | --- | --- | --- |
| list ${FILES} files | ${median(ours ?? []).toFixed(0)} | ${median(theirs ?? []).toFixed(0)} | ${median(ratios ?? []).toFixed(2)} |`);
