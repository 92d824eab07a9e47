// The baseline of uploads and downloads: node:http streams to and from files, flushed to disk. Takes its port and a
// folder as arguments.
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Chunks of the default 64 KiB cost about 1.6 times the CPU time. */
const CHUNK_BYTES = 512 * 1024;
const [port = '', folder = ''] = process.argv.slice(2);

createServer(async (request, response) => {
  const name = basename(request.url ?? '');
  const path = join(folder, `stream-${name}`);
  if (name === 'readyz') response.end();
  else if (request.method === 'PUT') {
    await pipeline(request, createWriteStream(path, { flush: true }));
    response.end();
  } else {
    response.setHeader('Content-Length', statSync(path).size);
    await pipeline(createReadStream(path, { highWaterMark: CHUNK_BYTES }), response);
  }
}).listen(Number(port), '127.0.0.1');
