import { Input, MATROSKA, MP4, QTFF, UrlSource, WEBM } from 'mediabunny';

const LOOKED_AT = 60;
const USUAL = 24;

/** The frame rate, computed from the packets of the file, because browsers do not expose it. */
export async function frameRateOf(url: string): Promise<number> {
  const input = new Input({ source: new UrlSource(url), formats: [MP4, QTFF, WEBM, MATROSKA] });
  try {
    const track = await input.getPrimaryVideoTrack();
    const stats = await track?.computePacketStats(LOOKED_AT);
    return stats === undefined || !(stats.averagePacketRate > 0) ? USUAL : stats.averagePacketRate;
  } finally {
    input.dispose();
  }
}
