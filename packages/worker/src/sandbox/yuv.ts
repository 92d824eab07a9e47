import type { Box } from './scene.ts';

/** A planar YUV 4:2:0 frame for the encoder. Width and height are even. */
export interface Frame {
  width: number;
  height: number;
  bytes: Uint8Array;
}

export interface YuvColour {
  y: number;
  u: number;
  v: number;
}

/** BT.709 in limited range, which players assume for such video. */
export const toYuv = (red: number, green: number, blue: number): YuvColour => ({
  y: 16 + ((47 * red + 157 * green + 16 * blue + 128) >> 8),
  u: 128 + ((-26 * red - 86 * green + 112 * blue + 128) >> 8),
  v: 128 + ((112 * red - 102 * green - 10 * blue + 128) >> 8),
});

export function frameOf(rgb: Uint8Array, width: number, height: number): Frame {
  const bytes = new Uint8Array((width * height * 3) / 2);
  let luma = 0;
  let chromaU = width * height;
  let chromaV = chromaU + chromaU / 4;
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const at = luma * 3;
      const red = rgb[at] ?? 0;
      const green = rgb[at + 1] ?? 0;
      const blue = rgb[at + 2] ?? 0;
      bytes[luma++] = 16 + ((47 * red + 157 * green + 16 * blue + 128) >> 8);
      if (row % 2 === 0 && column % 2 === 0) {
        bytes[chromaU++] = 128 + ((-26 * red - 86 * green + 112 * blue + 128) >> 8);
        bytes[chromaV++] = 128 + ((112 * red - 102 * green - 10 * blue + 128) >> 8);
      }
    }
  }
  return { width, height, bytes };
}

interface Plane {
  from: number;
  width: number;
  height: number;
  /** How many frame pixels one sample of this plane covers, in each direction. */
  step: number;
}

const planesOf = ({ width, height }: Frame): [Plane, Plane, Plane] => {
  const half = { width: width / 2, height: height / 2, step: 2 };
  const area = width * height;
  return [
    { from: 0, width, height, step: 1 },
    { from: area, ...half },
    { from: area + area / 4, ...half },
  ];
};

export function drawDisc(frame: Frame, x: number, y: number, radius: number, colour: YuvColour): void {
  const [luma, u, v] = planesOf(frame);
  fillDisc(frame.bytes, luma, x, y, radius, colour.y);
  fillDisc(frame.bytes, u, x, y, radius, colour.u);
  fillDisc(frame.bytes, v, x, y, radius, colour.v);
}

function fillDisc(bytes: Uint8Array, plane: Plane, x: number, y: number, radius: number, value: number): void {
  const [centreX, centreY, reach] = [x / plane.step, y / plane.step, radius / plane.step];
  const last = Math.min(plane.height - 1, Math.ceil(centreY + reach));
  for (let row = Math.max(0, Math.floor(centreY - reach)); row <= last; row += 1) {
    const above = row + 0.5 - centreY;
    if (Math.abs(above) >= reach) continue;
    const half = Math.sqrt(reach * reach - above * above);
    const left = Math.max(0, Math.round(centreX - half));
    const right = Math.min(plane.width, Math.round(centreX + half));
    if (left < right) bytes.fill(value, plane.from + row * plane.width + left, plane.from + row * plane.width + right);
  }
}

/** Copies a box between frames of the same size. The box must lie on even pixels. */
export function copyBox(from: Frame, to: Frame, box: Box): void {
  for (const plane of planesOf(from)) {
    const left = box.left / plane.step;
    const width = box.width / plane.step;
    const end = (box.top + box.height) / plane.step;
    for (let row = box.top / plane.step; row < end; row += 1) {
      const start = plane.from + row * plane.width + left;
      to.bytes.set(from.bytes.subarray(start, start + width), start);
    }
  }
}
