import { type Look, PROXY_TIME_BASE, type Size } from './video-source.ts';

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
export function pictureFilter({ rotation, hdr }: Look, { width, height }: Size): string {
  // Scaled first, because the other steps take longer for each pixel.
  const [wide, high] = rotation === 90 || rotation === 270 ? [height, width] : [width, height];
  return [`scale=${wide}:${high}`, ...(hdr === null ? [] : toneMap(hdr)), ...TURNS[rotation], 'setsar=1'].join(',');
}

/** Returns the filter for the frames of a proxy, in its time base. */
export const proxyFilter = (look: Look, size: Size): string =>
  `${pictureFilter(look, size)},format=yuv420p,settb=${PROXY_TIME_BASE.num}/${PROXY_TIME_BASE.den}`;

/** Returns the rotation that is nearest to an angle. */
export function rotationOf(degreesClockwise: number): Look['rotation'] {
  const turns = ((Math.round(degreesClockwise / 90) % 4) + 4) % 4;
  return turns === 1 ? 90 : turns === 2 ? 180 : turns === 3 ? 270 : 0;
}
