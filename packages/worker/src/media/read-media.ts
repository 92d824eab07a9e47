import type { MediaTask } from '@review/contract';
import { ReadAnswer, type ReadOrder, type ReadResult } from './read-order.ts';
import { Refused } from './refused.ts';
import { DecodeError, type Limits, runIsolated } from './run-isolated.ts';

/** The pixel count is limited on its own, because a small file can decode to a huge picture. */
const MAX_PIXELS = 200_000_000;
const LIMITS: Limits = { milliseconds: 60_000, memoryMegabytes: 1536, outputBytes: 50 * 1024 * 1024 };
/** All packets of a video are read, and all of its sound is decoded. */
const AV_LIMITS: Limits = { ...LIMITS, milliseconds: 10 * 60_000 };
/** A core may take ten times as long as the video is. */
const proxyLimits = (durationMs: number): Limits => ({
  ...LIMITS,
  milliseconds: 10 * 60_000 + 10 * durationMs,
  outputBytes: 5 * 1024 ** 3,
});

type Content = Pick<MediaTask, 'kind' | 'mimeType'> & Pick<ReadOrder, 'input' | 'output' | 'decoder'>;

const limitsOf = ({ kind }: Content): Limits => (kind === 'VIDEO' || kind === 'AUDIO' ? AV_LIMITS : LIMITS);

/** Reads a foreign file in a child process, which writes renditions to the output directory. Throws Refused if it cannot be read, and any other error if that may be a fault of the worker. */
export const readContent = (content: Content, signal: AbortSignal, limits = limitsOf(content)): Promise<ReadResult> =>
  run(content, {}, limits, signal);

/** Makes a proxy of a video in the same way. */
export const makeProxy = (
  content: Content,
  { height, durationMs }: { height: number; durationMs: number },
  signal: AbortSignal,
): Promise<ReadResult> => run(content, { proxy: height }, proxyLimits(durationMs), signal);

/** Draws pages of a PDF in the same way. */
export const makePages = (content: Content, pages: number[], signal: AbortSignal): Promise<ReadResult> =>
  run(content, { pages }, LIMITS, signal);

async function run(
  { kind, mimeType, input, output, decoder }: Content,
  part: Pick<ReadOrder, 'proxy' | 'pages'>,
  limits: Limits,
  signal: AbortSignal,
): Promise<ReadResult> {
  const order: ReadOrder = { kind, mimeType, input, output, decoder, maxPixels: MAX_PIXELS, ...part };
  const job = { program: 'read-program', words: [JSON.stringify(order)], output, limits, signal };
  const written = await runIsolated(job).catch((error: unknown) => {
    if (error instanceof DecodeError && error.isLimit)
      throw new Refused('LIMIT_EXCEEDED', `The file ${error.message}.`);
    // A crash may be a fault of the worker: it is logged and retried, and the server ends the task after the last attempt.
    throw error;
  });
  const answer = ReadAnswer.parse(JSON.parse(written.toString()));
  if ('fault' in answer) throw new Error(`read-program failed: ${answer.fault}`);
  if ('refused' in answer) throw new Refused(answer.refused.code, answer.refused.message);
  return answer;
}
