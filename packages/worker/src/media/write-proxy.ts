import { join } from 'node:path';
import { NO_FACTS } from '@review/contract';
import type { Decoder, Encoder, FilterAPI, Frame, Muxer, Stream } from 'node-av';
import { AvFile } from './av-file.ts';
import { pictureFilter } from './picture-filter.ts';
import { type ReadOrder, type ReadResult, Refused } from './read-order.ts';
import { type AvFacts, readFacts } from './video-facts.ts';

/** A finer time base than that of any source, so that frames keep their times exactly enough to be found again. */
const TIME_BASE = { num: 1, den: 90_000 };

/** Writes a video that every browser plays, with the frames of the original at their times. */
export async function writeProxy({ input, output, maxPixels }: ReadOrder, height: number): Promise<ReadResult> {
  const read = await (async () => {
    await using file = await AvFile.open(input);
    return await readFacts(file, maxPixels);
  })();
  await using file = await AvFile.open(input);
  const { video, audio, av } = file;
  if (video === undefined) throw new Refused('UNREADABLE', 'The file has no video.');
  const name = `proxy-${height}.mp4`;
  const size = sizeOf(read, height);
  const muxer = await av.Muxer.open(join(output, name), { format: 'mp4', options: { movflags: '+faststart' } });
  const tracks = [await pictureTrack(file, video, muxer, read, size)];
  if (audio !== undefined) tracks.push(await soundTrack(file, audio, muxer));
  for await (const packet of file.packets()) {
    for (const track of tracks) {
      if (track.stream.index !== packet.streamIndex) continue;
      for (const frame of await track.decoder.decodeAll(packet)) await track.add(frame);
    }
  }
  for (const track of tracks) {
    for (const frame of await track.decoder.decodeAll(null)) await track.add(frame);
    await track.end();
  }
  await muxer.close();
  const shape = { width: size.width, height: size.height, filmstrip: null };
  return { facts: NO_FACTS, files: [{ kind: 'PROXY', variant: height, file: name, mimeType: 'video/mp4', ...shape }] };
}

/** The pixels of a proxy: its short side is at most the height, and both sides are even. */
function sizeOf({ facts }: AvFacts, height: number): { width: number; height: number } {
  const [shownWidth, shownHeight] = [facts.width ?? height, facts.height ?? height];
  const scale = Math.min(1, height / Math.min(shownWidth, shownHeight));
  const even = (side: number) => Math.max(2, Math.round((side * scale) / 2) * 2);
  return { width: even(shownWidth), height: even(shownHeight) };
}

interface Track {
  stream: Stream;
  decoder: Decoder;
  add(frame: Frame): Promise<void>;
  end(): Promise<void>;
}

async function pictureTrack(
  file: AvFile,
  stream: Stream,
  muxer: Muxer,
  { look }: AvFacts,
  size: { width: number; height: number },
): Promise<Track> {
  const { av } = file;
  const filter = av.FilterAPI.create(`${pictureFilter(look, size)},format=yuv420p,settb=1/90000`);
  const encoder = await av.Encoder.create(av.FF_ENCODER_LIBX264, {
    // Without the frame rate of the source, which the library would round the times of frames to.
    context: { timeBase: new av.Rational(TIME_BASE.num, TIME_BASE.den), gopSize: 48, threadCount: 1 },
    options: { preset: 'veryfast', crf: 23 },
  });
  return track(await file.decoderOf(stream), stream, filter, encoder, muxer);
}

async function soundTrack(file: AvFile, stream: Stream, muxer: Muxer): Promise<Track> {
  const { av } = file;
  const filter = av.FilterAPI.create('aformat=sample_fmts=fltp:sample_rates=48000:channel_layouts=stereo');
  const encoder = await av.Encoder.create(av.FF_ENCODER_AAC, { context: { bitRate: 160_000n } });
  return track(await file.decoderOf(stream), stream, filter, encoder, muxer);
}

function track(decoder: Decoder, stream: Stream, filter: FilterAPI, encoder: Encoder, muxer: Muxer): Track {
  const target = muxer.addStream(encoder);
  const send = async (frame: Frame | null) => {
    for (const packet of await encoder.encodeAll(frame)) {
      await muxer.writePacket(packet, target);
      packet.free();
    }
    frame?.free();
  };
  return {
    stream,
    decoder,
    async add(frame) {
      for (const filtered of await filter.processAll(frame)) await send(filtered);
      frame.free();
    },
    async end() {
      for (const filtered of await filter.processAll(null)) await send(filtered);
      await send(null);
      await muxer.writePacket(null, target);
      filter.close();
      encoder.close();
      decoder.close();
    },
  };
}
