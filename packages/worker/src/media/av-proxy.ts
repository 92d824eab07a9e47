import type { Decoder, Encoder, FilterAPI, Frame, Muxer, Stream } from 'node-av';
import { AvFile } from './av-file.ts';
import { proxyFilter } from './picture-filter.ts';
import { type Look, PROXY_SOUND, PROXY_TIME_BASE, PROXY_VIDEO, type Size } from './video-source.ts';

/** Writes a proxy of a video with node-av. */
export async function writeAvProxy(input: string, path: string, look: Look, size: Size): Promise<void> {
  await using file = await AvFile.open(input);
  const { video, audio, av } = file;
  const muxer = await av.Muxer.open(path, { format: 'mp4', options: { movflags: '+faststart' } });
  const tracks: Track[] = [];
  if (video !== undefined) tracks.push(await pictureTrack(file, video, muxer, proxyFilter(look, size)));
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
}

interface Track {
  stream: Stream;
  decoder: Decoder;
  add(frame: Frame): Promise<void>;
  end(): Promise<void>;
}

async function pictureTrack(file: AvFile, stream: Stream, muxer: Muxer, filters: string): Promise<Track> {
  const { av } = file;
  const filter = av.FilterAPI.create(filters);
  const { num, den } = PROXY_TIME_BASE;
  const encoder = await av.Encoder.create(av.FF_ENCODER_LIBX264, {
    // Without the frame rate of the source, which the library would round the times of frames to.
    context: { timeBase: new av.Rational(num, den), gopSize: PROXY_VIDEO.gop, threadCount: 1 },
    options: { preset: PROXY_VIDEO.preset, crf: PROXY_VIDEO.crf },
  });
  return track(await file.decoderOf(stream), stream, filter, encoder, muxer);
}

async function soundTrack(file: AvFile, stream: Stream, muxer: Muxer): Promise<Track> {
  const { av } = file;
  const filter = av.FilterAPI.create(
    `aformat=sample_fmts=fltp:sample_rates=${PROXY_SOUND.rate}:channel_layouts=stereo`,
  );
  const encoder = await av.Encoder.create(av.FF_ENCODER_AAC, { context: { bitRate: BigInt(PROXY_SOUND.bits) } });
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
