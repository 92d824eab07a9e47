import type { Vector } from './matrix.ts';

export interface Triangle {
  corners: readonly [Vector, Vector, Vector];
  /** Linear red, green and blue from 0 to 1. */
  color: readonly [number, number, number];
}

/** The camera looks from above and in front of the model, a little from its right. */
const RIGHT: Vector = [0.894, 0, -0.447];
const UP: Vector = [-0.183, 0.913, -0.365];
const BACK: Vector = [0.408, 0.408, 0.816];
const LIGHT: Vector = [0.267, 0.802, 0.535];
const MARGIN = 0.05;

const dot = (a: Vector, b: Vector) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

/** Draws triangles with flat shading and a depth buffer, on a transparent square. Returns RGBA. */
export function drawTriangles(triangles: readonly Triangle[], side: number): Buffer {
  const seen = triangles.map(({ corners, color }) => ({
    corners: corners.map((corner): Vector => [dot(corner, RIGHT), dot(corner, UP), dot(corner, BACK)]),
    color: shade(corners, color),
  }));
  let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of seen.flatMap(({ corners }) => corners)) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [bottom, top] = [Math.min(bottom, y), Math.max(top, y)];
  }
  const scale = (side * (1 - 2 * MARGIN)) / (Math.max(right - left, top - bottom) || 1);
  const [centreX, centreY] = [(left + right) / 2, (bottom + top) / 2];
  const toPixels = ([x, y, z]: Vector): Vector => [
    side / 2 + (x - centreX) * scale,
    side / 2 - (y - centreY) * scale,
    z,
  ];
  const pixels = Buffer.alloc(side * side * 4);
  const depths = new Float64Array(side * side).fill(-Infinity);
  for (const { corners, color } of seen) {
    const [a, b, c] = corners.map(toPixels);
    if (a && b && c) fill([a, b, c], color, { side, pixels, depths });
  }
  return pixels;
}

/** Returns the colour in sRGB. Both sides of a triangle are lit. */
function shade([a, b, c]: Triangle['corners'], color: Triangle['color']): readonly number[] {
  const normal = cross(minus(b, a), minus(c, a));
  const length = Math.hypot(...normal) || 1;
  const light = 0.25 + (0.75 * Math.abs(dot(normal, LIGHT))) / length;
  return color.map((part) => Math.round(255 * Math.min(1, Math.max(0, part * light)) ** (1 / 2.2)));
}

interface Surface {
  side: number;
  pixels: Buffer;
  /** The depth of what each pixel shows; larger is nearer. */
  depths: Float64Array;
}

function fill([a, b, c]: Triangle['corners'], color: readonly number[], { side, pixels, depths }: Surface): void {
  const area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
  if (!Number.isFinite(area) || area === 0) return;
  const [red = 0, green = 0, blue = 0] = color;
  const clamp = (value: number) => Math.min(side - 1, Math.max(0, value));
  const [fromX, toX] = [clamp(Math.floor(Math.min(a[0], b[0], c[0]))), clamp(Math.ceil(Math.max(a[0], b[0], c[0])))];
  const [fromY, toY] = [clamp(Math.floor(Math.min(a[1], b[1], c[1]))), clamp(Math.ceil(Math.max(a[1], b[1], c[1])))];
  for (let y = fromY; y <= toY; y++) {
    for (let x = fromX; x <= toX; x++) {
      // The shares of the three corners in the centre of the pixel.
      const [px, py] = [x + 0.5, y + 0.5];
      const ofB = ((px - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (py - a[1])) / area;
      const ofC = ((b[0] - a[0]) * (py - a[1]) - (px - a[0]) * (b[1] - a[1])) / area;
      if (ofB < 0 || ofC < 0 || ofB + ofC > 1) continue;
      const depth = a[2] + (b[2] - a[2]) * ofB + (c[2] - a[2]) * ofC;
      const at = y * side + x;
      if (depth <= (depths[at] ?? 0)) continue;
      depths[at] = depth;
      pixels.set([red, green, blue, 255], at * 4);
    }
  }
}
