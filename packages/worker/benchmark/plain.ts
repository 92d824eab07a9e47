// What a few lines of the library do with a video: the baseline of media.ts.
import { FF_ENCODER_LIBX264, FF_ENCODER_MJPEG, type FFVideoEncoder } from 'node-av';
import { loadAv } from '../src/media/av-file.ts';

const [work = '', input = '', output = ''] = process.argv.slice(2);
const av = await loadAv();

/** Decodes a video, filters its frames and encodes them. */
async function transcode(filters: string, codec: FFVideoEncoder, options: Record<string, string>) {
  await using demuxer = await av.Demuxer.open(input);
  await using muxer = await av.Muxer.open(output);
  const stream = demuxer.video();
  if (stream === undefined) throw new Error('the file has no video');
  const decoder = await av.Decoder.create(stream);
  const filter = av.FilterAPI.create(filters);
  const encoder = await av.Encoder.create(codec, { decoder, filter, options, context: { threadCount: 1 } });
  await av.pipeline(demuxer, decoder, filter, encoder, muxer).completion;
}

if (work === 'pictures') {
  await transcode('fps=1/0.6,scale=160:90,tile=10x10', FF_ENCODER_MJPEG, { strict: 'unofficial' });
} else {
  await transcode(`scale=-2:${work},format=yuv420p`, FF_ENCODER_LIBX264, { preset: 'veryfast', crf: '23' });
}
