import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { requestBytes } from './load.ts';
import { Meter } from './measure.ts';
import { type Comparison, compare, type Extent, requestsOf } from './rounds.ts';
import { startServer } from './servers.ts';
import { createSite } from './site.ts';
import { ROWS, type RowName } from './targets.ts';

const Request = z.strictObject({ method: z.string(), path: z.string(), body: z.unknown().optional() });
/** A running server of another product with the same content, and its requests for the rows that it can serve. */
const Peer = z.strictObject({
  pid: z.number(),
  port: z.number(),
  /** Its database, if that is on Postgres. The service then runs on Postgres too. */
  postgres: z.string().optional(),
  /** The sessions of the peer in its database have this name; the default is none. */
  applicationName: z.string().default(''),
  headers: z.record(z.string(), z.string()),
  requests: z.partialRecord(z.enum(ROWS), Request),
});
export type Peer = z.infer<typeof Peer>;

export const readPeer = (file: string): Peer => Peer.parse(JSON.parse(readFileSync(file, 'utf8')));

/** Measures the service in alternation with a peer, which the caller has started and filled. */
export async function measurePeer(
  folder: string,
  postgresUrl: string | null,
  peer: Peer,
  extentOf: (row: RowName) => Extent,
  progress: (text: string) => void,
): Promise<Comparison[]> {
  await using disposed = new AsyncDisposableStack();
  const site = await createSite(folder, postgresUrl, 1000, disposed);
  const server = disposed.use(await startServer(site.folder, site.databaseUrl));
  const peerMeter = disposed.use(await Meter.open(peer.postgres));
  const comparisons: Comparison[] = [];
  for (const row of ROWS) {
    const request = peer.requests[row];
    if (request === undefined) continue;
    progress(`beside the peer: ${row}`);
    const requests = [requestBytes(request.method, request.path, peer.headers, request.body)];
    const subject = { server, meter: site.meter, requests: requestsOf(row, site.seeded) };
    comparisons.push(await compare(row, subject, { server: peer, meter: peerMeter, requests }, extentOf(row)));
  }
  return comparisons;
}
