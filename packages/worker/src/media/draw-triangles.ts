import type { Vector } from './matrix.ts';

/** A picture on triangles. */
export interface Texture {
  width: number;
  height: number;
  /** RGBA in sRGB. */
  pixels: Buffer;
  /** How coordinates outside of the picture are read, across and down. */
  wrap: readonly [Wrap, Wrap];
  /** Whether transparent pixels are holes. */
  hasHoles: boolean;
}

export type Wrap = 'repeat' | 'mirror' | 'clamp';

/** How the triangles of a mesh are coloured. */
export interface Paint {
  /** Linear red, green and blue from 0 to 1. */
  color: readonly number[];
  texture: Texture | null;
}

export interface Triangle {
  corners: readonly [Vector, Vector, Vector];
  paint: Paint;
  /** Where each corner is on the texture: across and down, from 0 to 1. */
  places: readonly number[];
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

/** The place on the screen, and the depth. */
const project = (corner: Vector): Vector => [dot(corner, RIGHT), dot(corner, UP), dot(corner, BACK)];

/** Draws triangles with flat shading and a depth buffer, on a transparent square. Returns RGBA. */
export function drawTriangles(triangles: readonly Triangle[], side: number): Buffer {
  let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { corners } of triangles) {
    for (const [x, y] of corners.map(project)) {
      [left, right] = [Math.min(left, x), Math.max(right, x)];
      [bottom, top] = [Math.min(bottom, y), Math.max(top, y)];
    }
  }
  const scale = (side * (1 - 2 * MARGIN)) / (Math.max(right - left, top - bottom) || 1);
  const [centreX, centreY] = [(left + right) / 2, (bottom + top) / 2];
  const toPixels = (corner: Vector): Vector => {
    const [x, y, z] = project(corner);
    return [side / 2 + (x - centreX) * scale, side / 2 - (y - centreY) * scale, z];
  };
  const surface = {
    side,
    pixels: Buffer.alloc(side * side * 4),
    depths: new Float64Array(side * side).fill(-Infinity),
  };
  for (const triangle of triangles) {
    const [a, b, c] = triangle.corners;
    fill([toPixels(a), toPixels(b), toPixels(c)], triangle, surface);
  }
  return surface.pixels;
}

/** Returns the colour in sRGB, from 0 to 1. Both sides of a triangle are lit. */
function shade([a, b, c]: Triangle['corners'], color: Paint['color']): readonly number[] {
  const normal = cross(minus(b, a), minus(c, a));
  const length = Math.hypot(...normal) || 1;
  const light = 0.25 + (0.75 * Math.abs(dot(normal, LIGHT))) / length;
  return color.map((part) => Math.min(1, Math.max(0, part * light)) ** (1 / 2.2));
}

interface Surface {
  side: number;
  pixels: Buffer;
  /** The depth of what each pixel shows; larger is nearer. */
  depths: Float64Array;
}

function fill([a, b, c]: Triangle['corners'], { corners, paint, places }: Triangle, surface: Surface): void {
  const { side, pixels, depths } = surface;
  const area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
  if (!Number.isFinite(area) || area === 0) return;
  const [red = 0, green = 0, blue = 0] = shade(corners, paint.color);
  const { texture } = paint;
  const [ua = 0, va = 0, ub = 0, vb = 0, uc = 0, vc = 0] = places;
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
      let texel = WHITE;
      if (texture !== null) {
        texel = texelAt(texture, ua + (ub - ua) * ofB + (uc - ua) * ofC, va + (vb - va) * ofB + (vc - va) * ofC);
        if (texture.hasHoles && (texel[3] ?? 0) < 128) continue;
      }
      depths[at] = depth;
      pixels.set([red * (texel[0] ?? 0), green * (texel[1] ?? 0), blue * (texel[2] ?? 0), 255], at * 4);
    }
  }
}

const WHITE: Uint8Array = new Uint8Array([255, 255, 255, 255]);

/** The nearest pixel: the drawing is scaled down to the poster, which smooths it. */
function texelAt({ width, height, pixels, wrap: [across, down] }: Texture, u: number, v: number): Uint8Array {
  const x = Math.min(width - 1, Math.floor(wrapped(u, across) * width));
  const y = Math.min(height - 1, Math.floor(wrapped(v, down) * height));
  const start = (y * width + x) * 4;
  return pixels.subarray(start, start + 4);
}

/** Returns a coordinate from 0 to 1. */
function wrapped(value: number, wrap: Wrap): number {
  if (!Number.isFinite(value)) return 0;
  if (wrap === 'clamp') return Math.min(1, Math.max(0, value));
  const period = wrap === 'mirror' ? 2 : 1;
  const rest = ((value % period) + period) % period;
  return rest > 1 ? 2 - rest : rest;
}
