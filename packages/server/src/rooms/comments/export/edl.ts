import { dropsFrames, timecode } from '@review/contract';
import { type Comments, type ExportedVideo, markerOf, oneLine } from './exported.ts';

/**
 * Comments as a CMX 3600 edit decision list: an event per comment, with a locator for Avid and Premiere and a marker line
 * for Resolve. Timecode starts at 0.
 */
export async function* edlOf(video: ExportedVideo, comments: Comments): AsyncGenerator<string> {
  const { rate } = video;
  yield `TITLE: ${oneLine(video.name)}\r\nFCM: ${dropsFrames(rate) ? 'DROP FRAME' : 'NON-DROP FRAME'}\r\n\r\n`;
  let number = 0;
  for await (const comment of comments) {
    const marker = markerOf(comment, rate);
    if (marker === null) continue;
    number += 1;
    const [start, end] = [timecode(marker.frame, rate), timecode(marker.frame + marker.frames, rate)];
    const color = marker.resolved ? 'Green' : 'Red';
    const text = `${oneLine(marker.author)}: ${marker.text}`;
    yield [
      `${String(number).padStart(3, '0')}  AX       V     C        ${start} ${end} ${start} ${end}`,
      `* FROM CLIP NAME: ${oneLine(video.name)}`,
      `* LOC: ${start} ${color.toUpperCase().padEnd(7)} ${text}`,
      // A bar starts the next field.
      ` |C:ResolveColor${color} |M:${text.replaceAll('|', '/')} |D:${marker.frames}`,
      '\r\n',
    ].join('\r\n');
  }
}
