import h264, { type H264MP4Encoder } from 'h264-mp4-encoder';
import { BufferSource, EncodedPacketSink, Input, MP4 } from 'mediabunny';

export interface EncodedLoop {
  packets: { data: Uint8Array; isKey: boolean }[];
  decoder: VideoDecoderConfig;
}

interface LoopShape {
  width: number;
  height: number;
  frameRate: number;
  frames: number;
}

/** Encodes the frames as one group that starts with its only key frame, so that it can be repeated. */
export async function encodeLoop(shape: LoopShape, frameAt: (index: number) => Uint8Array): Promise<EncodedLoop> {
  const encoder = await h264.createH264MP4Encoder();
  encoder.width = shape.width;
  encoder.height = shape.height;
  encoder.frameRate = shape.frameRate;
  encoder.groupOfPictures = shape.frames;
  encoder.quantizationParameter = 26;
  encoder.speed = 10;
  encoder.initialize();
  try {
    for (let index = 0; index < shape.frames; index += 1) encoder.addFrameYuv(frameAt(index));
  } catch (error) {
    takeFile(encoder);
    throw error;
  }
  return packetsOf(takeFile(encoder));
}

/** Ends the encoder; unless it is finished, deleted and its file taken away, its memory is never freed. */
function takeFile(encoder: H264MP4Encoder): Uint8Array {
  encoder.finalize();
  const mp4 = encoder.FS.readFile(encoder.outputFilename);
  encoder.FS.unlink(encoder.outputFilename);
  encoder.delete();
  return mp4;
}

async function packetsOf(mp4: Uint8Array): Promise<EncodedLoop> {
  using input = new Input({ source: new BufferSource(mp4), formats: [MP4] });
  const track = await input.getPrimaryVideoTrack();
  const decoder = await track?.getDecoderConfig();
  if (!track || !decoder) throw new Error('The encoder made no video track.');
  const packets: EncodedLoop['packets'] = [];
  for await (const { data } of new EncodedPacketSink(track).packets()) packets.push({ data, isKey: isKey(data) });
  return { packets, decoder };
}

const INSTANT_REFRESH = 5;

/** The encoder's own file calls every frame a key frame; the first byte after the length says what it is. */
const isKey = (data: Uint8Array): boolean => ((data[4] ?? 0) & 0x1f) === INSTANT_REFRESH;
