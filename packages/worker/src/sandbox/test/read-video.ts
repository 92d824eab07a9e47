import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { EncodedPacketSink, FilePathSource, Input, type InputTrack, MP4 } from 'mediabunny';

/** Reads the tracks of a video, and a digest of its packets: the file itself also contains its creation time. */
export async function readVideo(path: string) {
  using input = new Input({ source: new FilePathSource(path), formats: [MP4] });
  const video = await input.getPrimaryVideoTrack();
  if (!video) throw new Error('The file has no video.');
  const audio = await input.getPrimaryAudioTrack();
  const picture = await packetsOf(video);
  const sound = audio && (await packetsOf(audio));
  return {
    codec: await video.getCodec(),
    pixels: `${await video.getDisplayWidth()}x${await video.getDisplayHeight()}`,
    seconds: await input.computeDuration(),
    frames: picture.count,
    keys: picture.keys,
    audio: audio && { codec: await audio.getCodec(), seconds: await audio.computeDuration() },
    digest: `${picture.digest} ${sound?.digest ?? ''}`,
    streams: await canStream(path, sound?.first ?? null),
  };
}

async function packetsOf(track: InputTrack) {
  const hash = createHash('sha256');
  const keys: number[] = [];
  let first: Uint8Array | null = null;
  let count = 0;
  for await (const { data, type, timestamp } of new EncodedPacketSink(track).packets()) {
    if (type === 'key' && track.isVideoTrack()) keys.push(count);
    first ??= data;
    hash.update(data).update(String(timestamp));
    count += 1;
  }
  return { first, count, keys, digest: hash.digest('hex') };
}

/** Whether the index comes first, and the sound is among the pictures. */
async function canStream(path: string, sound: Uint8Array | null): Promise<boolean> {
  const bytes = await readFile(path);
  const index = bytes.indexOf('moov');
  return index > 0 && index < bytes.indexOf('mdat') && (sound === null || bytes.indexOf(sound) < bytes.length / 2);
}
