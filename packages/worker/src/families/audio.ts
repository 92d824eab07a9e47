import { rename, rm } from 'node:fs/promises';

/** Removes the audio tracks of a video without re-encoding its picture, for providers that always add sound. */
export async function removeAudio(path: string, signal: AbortSignal): Promise<void> {
  const { Conversion, FilePathSource, FilePathTarget, Input, MP4, Mp4OutputFormat, Output, QTFF } = await import(
    'mediabunny'
  );
  using input = new Input({ source: new FilePathSource(path), formats: [MP4, QTFF] });
  // The upload refuses content that is not a video.
  const readable = await input.canRead().catch(() => false);
  if (!readable || (await input.getPrimaryAudioTrack()) === null) return;
  const silent = `${path}.silent`;
  try {
    const output = new Output({
      format: new Mp4OutputFormat({ fastStart: 'in-memory' }),
      target: new FilePathTarget(silent),
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
  } finally {
    await rm(silent, { force: true });
  }
}
