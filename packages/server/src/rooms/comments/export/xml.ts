import { countedRate, dropsFrames, frameAt, timecode } from '@review/contract';
import { type Comments, type ExportedVideo, markerOf, oneLine } from './exported.ts';

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text, and leaves out what XML cannot contain. */
const escaped = (text: string): string =>
  oneLine(text)
    .replace(/[\uFFFE\uFFFF]/g, '')
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');

/** Comments as markers of a sequence in Final Cut Pro 7 XML, which Premiere and Resolve import. */
export async function* xmemlOf(video: ExportedVideo, comments: Comments): AsyncGenerator<string> {
  const { rate, width, height } = video;
  const isNtsc = !Number.isInteger(rate.numerator / rate.denominator);
  const rateXml = `<rate><timebase>${countedRate(rate)}</timebase><ntsc>${isNtsc ? 'TRUE' : 'FALSE'}</ntsc></rate>`;
  const size = width === null || height === null ? '' : `<width>${width}</width><height>${height}</height>`;
  yield `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE xmeml>
<xmeml version="5">
  <sequence>
    <name>${escaped(video.name)}</name>
    <duration>${framesOf(video)}</duration>
    ${rateXml}
    <timecode>${rateXml}<string>${timecode(0, rate)}</string><frame>0</frame><displayformat>${dropsFrames(rate) ? 'DF' : 'NDF'}</displayformat></timecode>
    <media><video><format><samplecharacteristics>${rateXml}${size}</samplecharacteristics></format><track/></video></media>
`;
  for await (const comment of comments) {
    const marker = markerOf(comment, rate);
    if (marker === null) continue;
    // A marker without a length has no end.
    const out = comment.duration === null ? -1 : marker.frame + marker.frames;
    yield `    <marker><name>${escaped(marker.author)}</name><comment>${escaped(marker.text)}</comment><in>${marker.frame}</in><out>${out}</out></marker>\n`;
  }
  yield '  </sequence>\n</xmeml>\n';
}

/** Comments as to-do markers of a project in FCPXML, for Final Cut Pro and Resolve. Resolved ones are completed. */
export async function* fcpxmlOf(video: ExportedVideo, comments: Comments): AsyncGenerator<string> {
  const { rate, width, height } = video;
  /** Times are fractions of a second and multiples of a frame. */
  const time = (frames: number) => (frames === 0 ? '0s' : `${frames * rate.denominator}/${rate.numerator}s`);
  const size = width === null || height === null ? '' : ` width="${width}" height="${height}"`;
  const name = escaped(video.name);
  const duration = time(framesOf(video));
  yield `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE fcpxml>
<fcpxml version="1.10">
  <resources>
    <format id="r1" frameDuration="${time(1)}"${size}/>
  </resources>
  <library>
    <event name="${name}">
      <project name="${name}">
        <sequence format="r1" duration="${duration}" tcStart="0s" tcFormat="${dropsFrames(rate) ? 'DF' : 'NDF'}">
          <spine>
            <gap name="Gap" offset="0s" start="0s" duration="${duration}">
`;
  for await (const comment of comments) {
    const marker = markerOf(comment, rate);
    if (marker === null) continue;
    yield `              <marker start="${time(marker.frame)}" duration="${time(marker.frames)}" value="${escaped(marker.text)}" note="${escaped(marker.author)}" completed="${marker.resolved ? 1 : 0}"/>\n`;
  }
  yield `            </gap>
          </spine>
        </sequence>
      </project>
    </event>
  </library>
</fcpxml>
`;
}

const framesOf = ({ durationMs, rate }: ExportedVideo): number => Math.max(1, frameAt(durationMs, rate));
