// `node packages/server/benchmark/media.ts`: CPU time of a list of 50 files with media, thumbnails and renditions, beside one of files
// without media; with `--facts` beside one of files with such facts and without renditions. docs/benchmarks.md explains the figures.
import { randomBytes, randomUUID } from 'node:crypto';
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
// Many short rounds: their ratios differ less on a busy machine than those of long ones.
const ROUNDS = 60;
const REQUESTS = 15;
const WARM_UP = 10;
const { values } = parseArgs({
  options: {
    postgres: { type: 'boolean', default: false },
    facts: { type: 'boolean', default: false },
    // Browsers and `fetch` accept brotli over TLS only: clients behind a proxy with TLS get it, this one would not.
    encoding: { type: 'string', default: 'br' },
  },
});

type Added = 'renditions' | 'facts' | 'nothing';
const beside: Added = values.facts ? 'facts' : 'nothing';

const WEBP_HEADER = Buffer.from('UklGRloAAABXRUJQVlA4IE4AAACwAQCdASoQAAoA', 'base64');

/** Returns facts with a placeholder of 100 bytes, which cannot be compressed beyond the header; those of photos have 70 to 136. */
function createFacts() {
  const placeholder = Buffer.concat([WEBP_HEADER, randomBytes(70)]).toString('base64');
  const uri = `data:image/webp;base64,${placeholder}`;
  return { ...NO_FACTS, durationMs: 60_000, width: 1920, height: 1080, hdr: false, placeholder: uri };
}

/** Adds a page of files like the seeded one, and one more so that both lists have a cursor, with their facts, or also with their renditions. */
async function addFiles({ address, seeded }: Site, projectId: string, added: Added): Promise<void> {
  await using opened = openDatabase(address, () => {});
  const { db } = opened;
  const seed = await db.selectFrom('files').selectAll().where('id', '=', seeded.fileId).executeTakeFirstOrThrow();
  const { folded_name: _, ...like } = seed;
  for (let index = 0; index <= FILES; index++) {
    const id = newId('FX');
    await db
      .insertInto('files')
      .values({
        ...like,
        id,
        project_id: projectId,
        storage_key: id,
        sha256: randomBytes(32).toString('hex'),
        created_at: now(),
      })
      .execute();
    if (added === 'nothing') continue;
    const [thumbnail, task] = [`${id}-${randomUUID()}`, { build: 1, attempts: 1, epoch: 1, created_at: now() }];
    const facts = { facts: JSON.stringify(createFacts()), duration_ms: 60_000, short_side: 1080 };
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
      const key = kind === 'THUMBNAIL' ? thumbnail : `${id}-${randomUUID()}`;
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
const client = createClient({
  baseUrl: server.url,
  token: key,
  headers: () => ({ 'Accept-Encoding': values.encoding }),
});

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
for (let round = -WARM_UP; round < ROUNDS; round++) {
  const first = round % 2 === 0;
  const before = first ? await costOf(withMedia, true) : await costOf(without, false);
  const after = first ? await costOf(without, false) : await costOf(withMedia, true);
  if (round < 0) continue;
  const [own, other] = first ? [before, after] : [after, before];
  ours?.push(own);
  theirs?.push(other);
  ratios?.push(own / other);
}
console.log(`${values.postgres ? 'Postgres' : 'SQLite'}, ${values.encoding}\n
| | CPU µs | with ${beside} | ratio |
| --- | --- | --- | --- |
| list ${FILES} files | ${median(ours ?? []).toFixed(0)} | ${median(theirs ?? []).toFixed(0)} | ${median(ratios ?? []).toFixed(2)} |`);
