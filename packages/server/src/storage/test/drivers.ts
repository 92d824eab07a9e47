import { createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import express from 'express';
import { startFauxqs } from 'fauxqs';
import { pino } from 'pino';
import { vi } from 'vitest';
import { BODY_LIMITS } from '../../http/body-timeout.ts';
import { errorHandler, notFound } from '../../http/error-handler.ts';
import { listen } from '../../listen.ts';
import { openStorage } from '../open.ts';
import type { Storage } from '../storage.ts';

export const SIGNING_KEY = createSecretKey(Buffer.alloc(32, 7));
export const BUCKET = 'review';

const MIB = 1024 * 1024;

/** The missing features of an S3 stand-in, as shown in the titles of skipped tests. */
export type Lack =
  | 'checks ETags and parts'
  | 'knows uploads'
  | 'refuses other sizes'
  | 'aborts'
  | 'checks signatures'
  | 'sets headers'
  | 'checks signatures of Unicode names'
  | 'ranges from the first byte'
  | 'range errors'
  | 'reachable'
  | 'same upload completed at once';

export interface Driver {
  name: string;
  /** S3 requires 5 MiB for all parts but the last. */
  leastPart: number;
  lacks: Partial<Record<Lack, string>>;
  open(): Promise<OpenDriver>;
}

export interface OpenDriver extends AsyncDisposable {
  storage: Storage;
  /** The directory of the disk driver. */
  folder: string;
}

export const DRIVERS: Driver[] = [
  { name: 'disk', leastPart: 1, lacks: {}, open: () => openOnDisk() },
  {
    name: 'S3 (fauxqs)',
    leastPart: 5 * MIB,
    lacks: {
      'refuses other sizes': 'fauxqs checks no signature, which holds the size',
      'checks signatures': 'fauxqs checks none',
      'checks signatures of Unicode names': 'fauxqs checks none',
      'sets headers': 'fauxqs ignores response-content-disposition and -type',
    },
    open: openOnFauxqs,
  },
  {
    name: 'S3 (s3rver)',
    leastPart: 1,
    lacks: {
      'checks ETags and parts': 's3rver checks no ETag',
      'knows uploads': 's3rver takes parts of any upload',
      aborts: 's3rver has no AbortMultipartUpload',
      'ranges from the first byte': 's3rver takes bytes=0-0 for the whole and bytes=-5 for bytes=0-5',
      'range errors': 's3rver says 416 without Content-Range',
      'checks signatures of Unicode names': "s3rver encodes ' and * wrongly before it compares",
      reachable: 's3rver drops the slash of HeadBucket before it compares the signature',
      'same upload completed at once': 's3rver writes one file twice at once and may pass by luck',
    },
    open: () => openOnS3rver({ checkSignatures: true }),
  },
];

export async function openOnDisk(limits = BODY_LIMITS): Promise<OpenDriver> {
  const folder = mkdtempSync(join(tmpdir(), 'review-storage-'));
  const app = express().disable('x-powered-by').disable('etag');
  const listening = await listen(app, { host: '127.0.0.1', port: 0 }, 1, limits);
  const storage = openStorage({
    storageUrl: `file:${join(folder, 'made', 'when-needed')}`,
    publicUrl: `http://127.0.0.1:${listening.port}`,
    signingKeys: [SIGNING_KEY],
  });
  if (storage.router) app.use(storage.router);
  app.use(notFound, errorHandler({ log: pino({ level: 'silent' }) }));
  return {
    storage,
    folder: join(folder, 'made', 'when-needed'),
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      await storage[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function openOnFauxqs(): Promise<OpenDriver> {
  const server = await startFauxqs({ port: 0, logger: false, init: { buckets: [BUCKET] } });
  return openOnS3(`http://127.0.0.1:${server.port}`, () => server.stop());
}

export async function openOnS3rver({ checkSignatures }: { checkSignatures: boolean }): Promise<OpenDriver> {
  const folder = mkdtempSync(join(tmpdir(), 'review-s3rver-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    directory: folder,
    silent: true,
    allowMismatchedSignatures: !checkSignatures,
    configureBuckets: [{ name: BUCKET }],
  });
  const { port } = await server.run();
  return openOnS3(`http://127.0.0.1:${port}`, async () => {
    server.httpServer.closeAllConnections();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
}

/** An S3 server with a fixed response. */
export async function openOnAnswers(answer: RequestListener): Promise<OpenDriver> {
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return openOnS3(`http://127.0.0.1:${port}`, async () => {
    server.closeAllConnections();
    server.close();
  });
}

export const s3Url = (endpoint: string, bucket: string = BUCKET): string =>
  `s3://${bucket}/some/folder?${new URLSearchParams({ region: 'us-east-1', endpoint, forcePathStyle: 'true' })}`;

function openOnS3(endpoint: string, stop: () => Promise<void>): OpenDriver {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'S3RVER');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'S3RVER');
  const storage = openStorage({ storageUrl: s3Url(endpoint), publicUrl: 'http://unused', signingKeys: [SIGNING_KEY] });
  return {
    storage,
    folder: '',
    async [Symbol.asyncDispose]() {
      await storage[Symbol.asyncDispose]();
      await stop();
    },
  };
}
