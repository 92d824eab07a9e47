import { registerAacEncoder } from '@mediabunny/aac-encoder';
import { pixelsOf, type VideoSettings } from '@review/contract/models';
import {
  AdtsOutputFormat,
  AudioSample,
  AudioSampleSource,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedVideoPacketSource,
  FilePathTarget,
  Mp4OutputFormat,
  NullTarget,
  Output,
} from 'mediabunny';
import { type Chance, chanceOf } from './chance.ts';
import { type EncodedLoop, encodeLoop } from './h264.ts';
import { drawFrame, orbitsOf } from './motion.ts';
import { pixelsOfSvg } from './rasterise.ts';
import type { Maker, SandboxRequest, Task } from './request.ts';
import { sceneOf } from './scene.ts';
import { CHANNELS, SAMPLE_RATE, tuneOf } from './sound.ts';
import { frameOf } from './yuv.ts';

registerAacEncoder();

const FRAME_RATE = 24;
/** One second of frames, which is repeated for the whole video, because encoding takes most of the time. */
const LOOP_FRAMES = FRAME_RATE;
const SAMPLES_PER_PACKET = 1024;

export const makeVideo: Maker = async (request, path, task) => {
  const { settings } = request;
  if (settings === null) throw new TypeError('A video needs its settings.');
  const loop = await loopOf(request, settings, {
    ...task,
    progress: (fraction) => task.progress(0.05 + 0.75 * fraction),
  });
  const output = new Output({
    // The index goes into space reserved at the front: browsers can play while loading, and no copy is held in memory.
    format: new Mp4OutputFormat({ fastStart: 'reserve' }),
    target: new FilePathTarget(path),
  });
  try {
    await write(output, loop, settings, chanceOf(request, 'sound'), {
      ...task,
      progress: (fraction) => task.progress(0.8 + 0.2 * fraction),
    });
  } catch (error) {
    await output.cancel();
    throw error;
  }
};

async function loopOf(request: SandboxRequest, settings: VideoSettings, task: Task): Promise<EncodedLoop> {
  const { width, height } = pixelsOf(settings.resolution, settings.aspectRatio);
  const chance = chanceOf(request, 'picture');
  const { svg, label } = sceneOf(request, chance, { width, height });
  const still = frameOf(await pixelsOfSvg(svg), width, height);
  const frame = { ...still, bytes: new Uint8Array(still.bytes.length) };
  const orbits = orbitsOf(chance, width, height);
  return encodeLoop({ width, height, frameRate: FRAME_RATE, frames: LOOP_FRAMES }, (index) => {
    task.progress(index / LOOP_FRAMES);
    drawFrame(still, frame, orbits, label, index / LOOP_FRAMES);
    return frame.bytes;
  });
}

async function write(
  output: Output,
  loop: EncodedLoop,
  { durationSeconds, generateAudio }: VideoSettings,
  chance: Chance,
  task: Task,
): Promise<void> {
  const picture = new EncodedVideoPacketSource('avc');
  output.addVideoTrack(picture, { frameRate: FRAME_RATE, maximumPacketCount: durationSeconds * FRAME_RATE });
  // The encoder adds one packet, so one fewer keeps the sound within the picture's duration.
  const soundPackets = Math.floor((durationSeconds * SAMPLE_RATE) / SAMPLES_PER_PACKET);
  const tune = generateAudio ? await encodeSound(chance, (soundPackets - 1) * SAMPLES_PER_PACKET) : [];
  const sound = new EncodedAudioPacketSource('aac');
  if (generateAudio) output.addAudioTrack(sound, { maximumPacketCount: soundPackets });
  await output.start();
  for (let second = 0; second < durationSeconds; second += 1) {
    await addPicture(picture, loop, second);
    for (const { packet, meta } of tune) if (Math.floor(packet.timestamp) === second) await sound.add(packet, meta);
    task.progress((second + 1) / durationSeconds);
  }
  await output.finalize();
}

interface EncodedSound {
  packet: EncodedPacket;
  meta: EncodedAudioChunkMetadata | undefined;
}

/**
 * Encodes the sound before the picture is written. The encoder runs beside: packets that it adds itself come after pictures of later
 * seconds, and a browser loads all of these before it plays.
 */
async function encodeSound(chance: Chance, samples: number): Promise<EncodedSound[]> {
  const encoded: EncodedSound[] = [];
  const source = new AudioSampleSource({
    codec: 'aac',
    bitrate: 96_000,
    onEncodedPacket: (packet, meta) => encoded.push({ packet, meta }),
  });
  const output = new Output({ format: new AdtsOutputFormat(), target: new NullTarget() });
  output.addAudioTrack(source);
  await output.start();
  const tune = tuneOf(chance, samples);
  for (let from = 0; from < samples; from += SAMPLE_RATE)
    await addSound(source, tune(from, Math.min(SAMPLE_RATE, samples - from)), from / SAMPLE_RATE);
  await output.finalize();
  return encoded;
}

async function addPicture(source: EncodedVideoPacketSource, loop: EncodedLoop, second: number): Promise<void> {
  const decoderConfig = { ...loop.decoder, colorSpace: COLOUR_SPACE };
  for (let index = 0; index < FRAME_RATE; index += 1) {
    const frame = second * FRAME_RATE + index;
    const packet = loop.packets[frame % loop.packets.length];
    if (!packet) throw new Error('The encoder made no frames.');
    const type = packet.isKey ? 'key' : 'delta';
    await source.add(
      new EncodedPacket(packet.data, type, frame / FRAME_RATE, 1 / FRAME_RATE),
      frame === 0 ? { decoderConfig } : undefined,
    );
  }
}

async function addSound(source: AudioSampleSource, data: Float32Array, timestamp: number): Promise<void> {
  using sample = new AudioSample({
    data,
    format: 'f32',
    numberOfChannels: CHANNELS,
    sampleRate: SAMPLE_RATE,
    timestamp,
  });
  await source.add(sample);
}

const COLOUR_SPACE: VideoColorSpaceInit = {
  primaries: 'bt709',
  transfer: 'bt709',
  matrix: 'bt709',
  fullRange: false,
};
