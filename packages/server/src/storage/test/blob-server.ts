import { createSecretKey } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import express from 'express';
import { pino } from 'pino';
import { errorHandler } from '../../http/error-handler.ts';
import { listen } from '../../listen.ts';
import { openStorage } from '../open.ts';

/** A separate process that serves a storage over HTTP, so that its memory can be measured. */
const [storageUrl = ''] = process.argv.slice(2);
const app = express().disable('etag');
const { port } = await listen(app, { host: '127.0.0.1', port: 0 }, 1);
const storage = openStorage({
  storageUrl,
  publicUrl: `http://127.0.0.1:${port}`,
  signingKeys: [createSecretKey(Buffer.alloc(32, 7))],
});
if (storage.router) app.use(storage.router);
app.use(express.json({ limit: '4mb' }));
app.post('/begin', async ({ body: { key } }, response) => {
  response.json(await storage.begin(key));
});
app.post('/part-urls', async ({ body: { target, sizes } }, response) => {
  const sized: number[] = sizes;
  let end = 0;
  const urls = sized.map((size, index) => {
    const offset = end;
    end += size;
    return storage.partUrl(target, { partNumber: index + 1, size, offset }, 3600);
  });
  response.json(await Promise.all(urls));
});
app.post('/complete', async ({ body: { target, parts, size } }, response) => {
  await storage.complete(target, parts, size);
  response.json(null);
});
app.post('/download-url', async ({ body: { key } }, response) => {
  response.json(await storage.downloadUrl(key, { name: 'big.bin', mimeType: 'application/octet-stream' }, 3600));
});
app.get('/read/:key', async (request, response) => {
  await pipeline(await storage.read(request.params.key), response);
});
app.use(errorHandler({ log: pino() }));
process.on('disconnect', () => process.exit());
process.send?.(port);
