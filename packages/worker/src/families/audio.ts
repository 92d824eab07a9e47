import { open, rename, rm } from 'node:fs/promises';
import type { StreamTargetChunk } from 'mediabunny';
import { diskError } from '../disk-errors.ts';
import { StepError } from '../step-error.ts';

/**
 * Removes the audio tracks of a video without re-encoding its picture, for providers that always add sound. Throws
 * PROVIDER_FAILED if that is impossible: another download would have the same content.
 */
export async function removeAudio(path: string, signal: AbortSignal): Promise<void> {
  const { Conversion, FilePathSource, Input, MP4, Mp4OutputFormat, Output, QTFF, StreamTarget } = await import(
    'mediabunny'
  );
  using input = new Input({ source: new FilePathSource(path), formats: [MP4, QTFF] });
  // The upload refuses content that is not a video.
  const readable = await input.canRead().catch(() => false);
  if (!readable) return;
  const silent = `${path}.silent`;
  try {
    if ((await input.getPrimaryAudioTrack()) === null) return;
    // Mediabunny's own target for files stays open after an error.
    await using file = await open(silent, 'w');
    const write = async ({ data, position }: StreamTargetChunk) => {
      for (let written = 0; written < data.byteLength; ) {
        const { bytesWritten } = await file.write(data, written, data.byteLength - written, position + written);
        written += bytesWritten;
      }
    };
    const output = new Output({
      format: new Mp4OutputFormat({ fastStart: 'in-memory' }),
      target: new StreamTarget(new WritableStream({ write }), { chunked: true }),
    });
    const conversion = await Conversion.init({ input, output, audio: { discard: true }, showWarnings: false });
    if (!conversion.isValid) throw new Error('the video track cannot be copied');
    const cancel = () => void conversion.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      signal.throwIfAborted();
      await conversion.execute();
    } finally {
      signal.removeEventListener('abort', cancel);
    }
    await rename(silent, path);
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The sound of the provider's video could not be removed: ${reason}`;
    throw diskError(error) ?? new StepError('PROVIDER_FAILED', message);
  } finally {
    await rm(silent, { force: true });
  }
}
