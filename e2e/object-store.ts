import { startFauxqs } from 'fauxqs';
import { type Gate, openGate } from './gate.ts';
import type { Settings } from './service.ts';

export interface ObjectStore extends AsyncDisposable {
  port: number;
  /** Settings that make a service use this store. */
  settings: Settings;
  /** Injects faults in front of the store. */
  gate: Gate;
  /** The keys of all stored objects. */
  keys(): Promise<string[]>;
}

/** Starts an S3-compatible object store on this host. */
export async function startObjectStore(bucket = 'review'): Promise<ObjectStore> {
  const store = await startFauxqs({ port: 0, logger: false, init: { buckets: [bucket] } });
  const address = `http://127.0.0.1:${store.port}`;
  const gate = await openGate(address);
  const where = new URLSearchParams({ region: 'us-east-1', endpoint: gate.url, forcePathStyle: 'true' });
  return {
    port: store.port,
    settings: {
      STORAGE_URL: `s3://${bucket}/results?${where}`,
      AWS_ACCESS_KEY_ID: 'test-key-id',
      AWS_SECRET_ACCESS_KEY: 'test-secret',
    },
    gate,
    async keys() {
      const listed = await (await fetch(`${address}/${bucket}?list-type=2`)).text();
      return Array.from(listed.matchAll(/<Key>([^<]+)<\/Key>/g), ([, key]) => key ?? '');
    },
    async [Symbol.asyncDispose]() {
      await gate[Symbol.asyncDispose]();
      await store.stop();
    },
  };
}
