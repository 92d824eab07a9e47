import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { WorkerClient } from '@review/client/worker';
import type { MediaTask, RenditionName, WorkerMedia } from '@review/contract';
import type { Logger } from 'pino';
import { mapDiskErrors } from '../disk-errors.ts';
import { makePages, makeProxy, readContent } from '../media/read-media.ts';
import type { Decoder, MadeFile } from '../media/read-order.ts';
import { Refused } from '../media/refused.ts';
import { removeDirectory } from '../remove-directory.ts';
import { StepError } from '../step-error.ts';
import { mapServerError } from '../steps/context.ts';
import { putPart } from '../steps/put-part.ts';
import { retryWhileUnavailable } from '../steps/retry-while-unavailable.ts';
import { type Reading, traceReading } from './trace-reading.ts';

/** A third of the lease. */
const RENEW_MS = 10_000;
/** Drawn by one process. If that fails, each page is drawn by its own. */
const PAGES_AT_ONCE = 10;

export interface MediaContext {
  server: Pick<WorkerClient, keyof WorkerMedia>;
  workDirectory: string;
  log: Logger;
  decoder: Decoder;
}

interface Held {
  fileId: string;
  epoch: number;
}

/**
 * Reads the media of a file, stores its renditions and ends the task. Without an epoch, takes the file over. A task that
 * another worker holds is left to it, and one that `stop` interrupts is released. After any other error the lease expires.
 */
export async function readMedia(
  context: MediaContext,
  { fileId, epoch }: { fileId: string; epoch: number | null },
  stop: AbortSignal,
): Promise<void> {
  const { server, log } = context;
  const lost = new AbortController();
  const signal = AbortSignal.any([stop, lost.signal]);
  const call = <T>(work: () => Promise<T>) => retryWhileUnavailable(signal, () => mapServerError(work()));
  const params = { id: fileId };
  try {
    const { data } = await call(() => server.startMedia({ params, body: { epoch } }));
    const held = { fileId, epoch: data.epoch };
    const renewing = setInterval(async () => {
      await mapServerError(server.renewMedia({ params, body: { epoch: data.epoch } })).catch((error: unknown) => {
        if (isLost(error)) lost.abort(error);
      });
    }, RENEW_MS);
    try {
      await traceReading(fileId, data.task, signal, async () => {
        const end = await attempt(context, held, data.task, signal);
        await call(() => server.finishMedia({ params, body: { epoch: data.epoch, ...end } }));
        return end;
      });
    } catch (error) {
      if (stop.aborted) await server.releaseMedia({ params, body: { epoch: data.epoch } }).catch(() => {});
      throw error;
    } finally {
      clearInterval(renewing);
    }
  } catch (error) {
    if (!isLost(error) && !stop.aborted) throw error;
    log.debug({ err: error, file: fileId }, 'media task was left to another worker');
  }
}

const isLost = (error: unknown) => error instanceof StepError && error.type === 'LOST';

/** Returns the reason if the content cannot be read, or only its facts. */
async function attempt(context: MediaContext, held: Held, task: MediaTask, signal: AbortSignal): Promise<Reading> {
  await mkdir(context.workDirectory, { recursive: true });
  const folder = await mkdtemp(join(context.workDirectory, `media-${held.fileId}-`));
  try {
    const [input, output] = [join(folder, 'input'), join(folder, 'output')];
    await mkdir(output);
    await retryWhileUnavailable(signal, () => mapDiskErrors(() => download(task, input, signal)));
    const content = { ...task, input, output, decoder: context.decoder };
    const { facts, files, proxies = [], incomplete = null } = await readContent(content, signal);
    const body = { epoch: held.epoch, facts };
    const record = () => mapServerError(context.server.recordFacts({ params: { id: held.fileId }, body }));
    await retryWhileUnavailable(signal, record);
    const isStored = (name: RenditionName) =>
      task.stored.some(({ kind, variant }) => kind === name.kind && variant === name.variant);
    const store = async (made: MadeFile) => {
      const path = join(output, made.file);
      if (!isStored(made)) await retryWhileUnavailable(signal, () => upload(context, held, path, made, signal));
      await rm(path);
    };
    for (const made of files) await store(made);
    for (const height of proxies) {
      if (isStored({ kind: 'PROXY', variant: height })) continue;
      const proxy = await makeProxy(content, { height, durationMs: facts.durationMs ?? 0 }, signal);
      for (const made of proxy.files) await store(made);
    }
    const drawPages = async (pages: number[]): Promise<void> => {
      try {
        const { files } = await makePages(content, pages, signal);
        for (const made of files) await store(made);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        context.log.warn({ err: error, file: held.fileId, pages }, 'pages not drawn');
        if (pages.length > 1) for (const page of pages) await drawPages([page]);
      }
    };
    const missing = (task.pages ?? []).filter((page) => !isStored({ kind: 'PAGE', variant: page }));
    for (let start = 0; start < missing.length; start += PAGES_AT_ONCE) {
      await drawPages(missing.slice(start, start + PAGES_AT_ONCE));
    }
    return { status: 'READY', error: incomplete };
  } catch (error) {
    if (error instanceof Refused) return { status: 'FAILED', error: { code: error.code, message: error.message } };
    throw error;
  } finally {
    await removeDirectory(folder);
  }
}

async function download({ url, size }: MediaTask, path: string, signal: AbortSignal): Promise<void> {
  const response = await fetch(url, { signal }).catch((error: unknown) => {
    throw signal.aborted ? error : new StepError('AWAY', 'The storage does not answer.');
  });
  const { ok, status, body } = response;
  if (!ok || body === null) {
    const message = `The storage answered ${status}.`;
    // The URL may have expired: the next attempt gets another.
    throw status >= 500 || status === 429 ? new StepError('AWAY', message) : new Error(message);
  }
  await pipeline(body, createWriteStream(path), { signal }).catch((error: unknown) => {
    // Of `fetch`; the errors of the disk are others.
    throw error instanceof TypeError ? brokenError() : error;
  });
  if ((await stat(path)).size !== size) throw brokenError();
}

const brokenError = () => new StepError('AWAY', 'The connection to the storage broke.');

async function upload(
  { server }: MediaContext,
  { fileId, epoch }: Held,
  path: string,
  { kind, variant, mimeType, width, height, filmstrip }: MadeFile,
  signal: AbortSignal,
): Promise<void> {
  const params = { id: fileId };
  const { size } = await stat(path);
  const name = { epoch, kind, variant };
  const { data } = await mapServerError(server.startRendition({ params, body: { ...name, size, mimeType } }));
  const parts = [];
  let start = 0;
  for (const part of data.parts) {
    parts.push({ partNumber: part.partNumber, eTag: await putPart(path, start, part, signal) });
    start += part.size;
  }
  const body = { ...name, parts, width, height, filmstrip };
  await mapServerError(server.completeRendition({ params, body }));
}
