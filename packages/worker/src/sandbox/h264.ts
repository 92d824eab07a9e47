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

/** Encodes the frames as one group of pictures with a single key frame at its start, so that it can be looped. */
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

/** Finalizes the encoder and returns its file. Its memory is freed only after finalize, delete and unlink. */
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

/** The encoder marks every frame as a key frame, so the type is read from the NAL unit header. */
const isKey = (data: Uint8Array): boolean => ((data[4] ?? 0) & 0x1f) === INSTANT_REFRESH;
