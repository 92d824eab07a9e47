import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request as startRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from '@review/client';
import { type Meter, median } from './measure.ts';
import type { Seeded } from './seed.ts';
import type { Running } from './servers.ts';

const MEGABYTE = 1024 * 1024;
/** The number of parts that the typed client sends at once. */
const PARALLEL = 4;
const HASH_POLL_MS = 10;

/** MB/s, and CPU milliseconds per MB. */
export interface Throughput {
  speed: number;
  cpu: number;
}

export interface BytesComparison {
  direction: 'upload' | 'download';
  ours: Throughput;
  bare: Throughput;
  /** The median ratio of the speeds within a round. */
  ratio: number;
}

interface Sizes {
  megabytes: number;
  rounds: number;
}

/** Measures uploads and downloads of one large file, alternating with bare streams of the same parts. */
export async function compareBytes(
  server: Running,
  bare: Running,
  { key, writtenProjectId }: Seeded,
  meter: Meter,
  { megabytes, rounds }: Sizes,
): Promise<BytesComparison[]> {
  const bytes = randomBytes(megabytes * MEGABYTE);
  const client = createClient({ baseUrl: server.url, token: key });
  const service = new ServiceTransfer(client, writtenProjectId, bytes);
  const stream = new StreamTransfer(bare.url);
  await stream.store(bytes);
  const up: [Throughput, Throughput][] = [];
  const down: [Throughput, Throughput][] = [];
  const ofServer = (work: Work) => () => transfer(server, meter, megabytes, work);
  const ofBare = (work: Work) => () => transfer(bare, meter, megabytes, work);
  for (let round = 0; round <= rounds; round++) {
    const uploads = await alternate(
      round,
      ofServer((done) => service.upload(done)),
      ofBare((done) => stream.upload(service.parts, done)),
    );
    const downloads = await alternate(
      round,
      ofServer((done) => service.download(done)),
      ofBare((done) => stream.download(done)),
    );
    // The first round is a warm-up.
    if (round === 0) continue;
    up.push(uploads);
    down.push(downloads);
  }
  return [summarize('upload', up), summarize('download', down)];
}

type Work = (done: () => void) => Promise<void>;

/** Runs both, in another order every other round. The service comes first in the warm-up, which decides on the parts. */
async function alternate<T>(round: number, first: () => Promise<T>, second: () => Promise<T>): Promise<[T, T]> {
  if (round % 2 === 0) return [await first(), await second()];
  const last = await second();
  return [await first(), last];
}

/** `done` marks the end of the transfer; work in the background may follow, which costs CPU time only. */
async function transfer(server: Running, meter: Meter, megabytes: number, work: Work): Promise<Throughput> {
  let seconds = 0;
  const cost = await meter.costOf(server, () => {
    const started = performance.now();
    return work(() => {
      seconds = (performance.now() - started) / 1000;
    });
  });
  return { speed: megabytes / seconds, cpu: cost.server / 1000 / megabytes };
}

function summarize(direction: BytesComparison['direction'], rounds: [Throughput, Throughput][]): BytesComparison {
  const medians = (all: Throughput[]): Throughput => ({
    speed: median(all.map(({ speed }) => speed)),
    cpu: median(all.map(({ cpu }) => cpu)),
  });
  return {
    direction,
    ours: medians(rounds.map(([ours]) => ours)),
    bare: medians(rounds.map(([, bare]) => bare)),
    ratio: median(rounds.map(([ours, bare]) => ours.speed / bare.speed)),
  };
}

/** The service: start, PUT of the parts, complete; then a GET of the presigned URL. */
class ServiceTransfer {
  /** The parts of the last upload, as the service asked for them. */
  parts: Buffer[] = [];
  readonly #client: Client;
  readonly #projectId: string;
  readonly #bytes: Buffer;
  #fileId = '';

  constructor(client: Client, projectId: string, bytes: Buffer) {
    this.#client = client;
    this.#projectId = projectId;
    this.#bytes = bytes;
  }

  async upload(done: () => void): Promise<void> {
    const { files } = this.#client;
    const body = { name: 'cut.bin', size: this.#bytes.length, folder: null };
    const { data } = await files.startUpload({ params: { id: this.#projectId }, body });
    this.parts = [];
    let offset = 0;
    for (const { size } of data.parts) {
      this.parts.push(this.#bytes.subarray(offset, offset + size));
      offset += size;
    }
    const urls = data.parts.map(({ url }) => url);
    const eTags = await putAll(urls, this.parts);
    const parts = eTags.map((eTag, index) => ({ partNumber: index + 1, eTag }));
    await files.completeUpload({ params: { id: data.id }, body: { parts } });
    done();
    this.#fileId = data.id;
    // The service hashes the file after its answer, which must not slow down the next measurement.
    while ((await files.get({ params: { id: data.id } })).data.sha256 === null) await sleep(HASH_POLL_MS);
  }

  async download(done: () => void): Promise<void> {
    const { data } = await this.#client.files.download({ params: { id: this.#fileId } });
    await receive(data.url);
    done();
  }
}

/** The bare server: a PUT of each part; then a GET of the whole file. */
class StreamTransfer {
  readonly #url: string;
  readonly #whole: string;

  constructor(url: string) {
    this.#url = url;
    this.#whole = `${url}/whole`;
  }

  async store(bytes: Buffer): Promise<void> {
    await putAll([this.#whole], [bytes]);
  }

  async upload(parts: Buffer[], done: () => void): Promise<void> {
    const urls = parts.map((_, index) => `${this.#url}/${index}`);
    await putAll(urls, parts);
    done();
  }

  async download(done: () => void): Promise<void> {
    await receive(this.#whole);
    done();
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: PARALLEL });

/** Sends the parts, a few at once, and returns their ETags. */
async function putAll(urls: string[], parts: Buffer[]): Promise<string[]> {
  const eTags: string[] = [];
  let next = 0;
  const work = async () => {
    while (next < urls.length) {
      const index = next++;
      const part = parts[index] ?? Buffer.alloc(0);
      const headers = { 'Content-Length': part.length };
      const put = startRequest(urls[index] ?? '', { method: 'PUT', agent, headers }).end(part);
      const answer = await answerTo(put);
      answer.resume();
      await once(answer, 'end');
      eTags[index] = String(answer.headers.etag ?? '');
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return eTags;
}

async function receive(url: string): Promise<void> {
  const answer = await answerTo(startRequest(url, { agent }).end());
  answer.resume();
  await once(answer, 'end');
}

async function answerTo(request: ReturnType<typeof startRequest>): Promise<IncomingMessage> {
  const [answer]: IncomingMessage[] = await once(request, 'response');
  if (answer?.statusCode !== 200) throw new Error(`${request.path} returned ${answer?.statusCode}`);
  return answer;
}
