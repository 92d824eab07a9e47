import { rename, rm } from 'node:fs/promises';

/** Takes the sound out of a video, without touching its picture: some providers cannot be told to leave it out. */
export async function removeAudio(path: string, signal: AbortSignal): Promise<void> {
  const { Conversion, FilePathSource, FilePathTarget, Input, MP4, Mp4OutputFormat, Output, QTFF } = await import(
    'mediabunny'
  );
  using input = new Input({ source: new FilePathSource(path), formats: [MP4, QTFF] });
  // What is no video is refused where its bytes are checked.
  const readable = await input.canRead().catch(() => false);
  if (!readable || (await input.getPrimaryAudioTrack()) === null) return;
  const silent = `${path}.silent`;
  try {
    const output = new Output({
      format: new Mp4OutputFormat({ fastStart: 'in-memory' }),
      target: new FilePathTarget(silent),
    });
    const conversion = await Conversion.init({ input, output, audio: { discard: true }, showWarnings: false });
    if (!conversion.isValid) throw new Error('the picture cannot be kept as it is');
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
