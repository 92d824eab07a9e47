import { Input, MATROSKA, MP4, QTFF, UrlSource, WEBM } from 'mediabunny';

const LOOKED_AT = 60;
const USUAL = 24;

/** Frames a second: browsers do not tell, so the packets of the file are looked at. */
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
