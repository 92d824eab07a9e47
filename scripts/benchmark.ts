// Measures the CPU time per request of the service and of a bare Express and SQLite server, alternating in one run.
// Compare the ratio: the absolute figures hold for this machine only.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Program, until } from '../e2e/processes.ts';
import { Service } from '../e2e/service.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, requests: { type: 'string', default: '400' } },
});
const [rounds, requests] = [Number(values.rounds), Number(values.requests)];
if (!(rounds >= 1 && requests >= 1)) throw new Error('--rounds and --requests must be numbers of at least 1');
const AT_ONCE = 4;

type Work = () => Promise<unknown>;

async function benchmark(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'review-benchmark-'));
  try {
    await using service = await Service.start();
    const bareServer = resolve(import.meta.dirname, '../packages/server/src/test/bare-server.ts');
    await using bare = new Program(process.execPath, [bareServer, join(folder, 'bare.sqlite')], {});
    const bareUrl = await until('the bare server listens', () => /http:\S+/.exec(bare.output)?.[0]);

    const at = { params: { id: service.projectId } };
    const { comments } = service.client;
    const content = 'The light in the second shot is too cold; see the reference from last week.'.padEnd(400, ' .');
    const created = await comments.create({ ...at, body: { content } });
    const bareComments = `${bareUrl}/projects/${service.projectId}/comments`;
    const bareCreate = () => send(bareComments, JSON.stringify({ content }));
    const bareId = String(await bareCreate().then((answer) => /"id":"(.+?)"/.exec(answer)?.[1]));

    const rows: [name: string, ours: Work, bare: Work][] = [
      ['create a comment', () => comments.create({ ...at, body: { content } }), bareCreate],
      [
        'list 50 comments',
        () => comments.list({ ...at, body: { sort: { direction: 'desc' } } }),
        () => send(bareComments),
      ],
      [
        'get a comment',
        () => comments.get({ params: { id: created.data.id } }),
        () => send(`${bareUrl}/comments/${bareId}`),
      ],
    ];
    console.log(
      `benchmark: ${rounds} rounds of ${requests} requests, ${AT_ONCE} at once; medians of CPU µs per request`,
    );
    for (const [name, ours, theirs] of rows) {
      const costs: { ours: number; bare: number }[] = [];
      for (let round = 0; round <= rounds; round++) {
        const cost = { ours: await cpuOf(service.url, ours), bare: await cpuOf(bareUrl, theirs) };
        // The first round is a warm-up.
        if (round > 0) costs.push(cost);
      }
      const [service_, bare_] = [median(costs.map((cost) => cost.ours)), median(costs.map((cost) => cost.bare))];
      const ratio = median(costs.map((cost) => cost.ours / cost.bare));
      console.log(
        `  ${name.padEnd(18)} service ${service_.toFixed(0).padStart(5)}   bare ${bare_.toFixed(0).padStart(5)}   ratio ${ratio.toFixed(2)}`,
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** CPU time of the server per request, in microseconds. */
async function cpuOf(url: string, work: Work): Promise<number> {
  const before = await cpuSeconds(url);
  let left = requests;
  const lane = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return ((await cpuSeconds(url)) - before) * (1e6 / requests);
}

async function cpuSeconds(url: string): Promise<number> {
  const metrics = await send(`${url}/metrics`);
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(metrics)?.[1]);
}

async function send(url: string, body?: string): Promise<string> {
  const asked = body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  const answer = await fetch(url, asked);
  if (!answer.ok) throw new Error(`${url} returned ${answer.status}`);
  return answer.text();
}

const median = (numbers: number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

await benchmark();
