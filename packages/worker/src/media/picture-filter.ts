import type { CodecParameters } from 'node-av';
import type { Av } from './av-file.ts';

/** How the pictures of a video become what a viewer sees. */
export interface Look {
  /** By how many degrees they are turned clockwise. */
  rotation: 0 | 90 | 180 | 270;
  /** The transfer function, by its name in FFmpeg; null if it is not HDR. */
  hdr: 'smpte2084' | 'arib-std-b67' | null;
}

const TURNS = { 0: [], 90: ['transpose=clock'], 180: ['hflip', 'vflip'], 270: ['transpose=cclock'] } as const;

/**
 * Maps HDR to what ordinary screens show. The light is linear in between, which needs numbers without an upper bound. Files that
 * do not name their primaries and matrix have those of BT.2020.
 */
const toneMap = (transfer: NonNullable<Look['hdr']>): string[] => [
  // Sides may be odd from here on.
  'format=yuv444p10le',
  `zscale=tin=${transfer}:pin=bt2020:min=bt2020nc:t=linear:npl=203`,
  'format=gbrpf32le',
  'zscale=p=bt709',
  'tonemap=tonemap=mobius:desat=0',
  'zscale=t=bt709:m=bt709:r=tv',
];

/** Returns the filter that scales pictures to this size, as shown, and makes them look as they should. */
export function pictureFilter({ rotation, hdr }: Look, { width, height }: { width: number; height: number }): string {
  // Scaled first, because the other steps take longer for each pixel.
  const [wide, high] = rotation === 90 || rotation === 270 ? [height, width] : [width, height];
  return [`scale=${wide}:${high}`, ...(hdr === null ? [] : toneMap(hdr)), ...TURNS[rotation], 'setsar=1'].join(',');
}

/** Returns by how many degrees a video is turned clockwise when it is shown. */
export function rotationOf(codecpar: CodecParameters, { AV_PKT_DATA_DISPLAYMATRIX }: Av): Look['rotation'] {
  const matrix = codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX);
  if (matrix === null || matrix.length < 20) return 0;
  const [a, b] = [matrix.readInt32LE(0), matrix.readInt32LE(4)];
  const degrees = (Math.atan2(b, a) * 180) / Math.PI;
  const turns = (Math.round(degrees / 90) + 4) % 4;
  return turns === 1 ? 90 : turns === 2 ? 180 : turns === 3 ? 270 : 0;
}

export function hdrOf({ colorTrc }: CodecParameters, av: Av): Look['hdr'] {
  if (colorTrc === av.AVCOL_TRC_SMPTE2084) return 'smpte2084';
  return colorTrc === av.AVCOL_TRC_ARIB_STD_B67 ? 'arib-std-b67' : null;
}
