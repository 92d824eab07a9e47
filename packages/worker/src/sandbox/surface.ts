import type { Chance } from './chance.ts';

export interface Surface {
  positions: Float32Array<ArrayBuffer>;
  normals: Float32Array<ArrayBuffer>;
  indices: Uint32Array<ArrayBuffer>;
}

type Vector = readonly [number, number, number];

const AROUND = 240;
const ACROSS = 24;
const NUDGE = 1e-3;

/** Returns a seeded knot: a ribbed tube that is closed in both directions, without poles or seams. */
export function knotOf(chance: Chance): Surface {
  const [turns, twists] = chance.pick([
    [1, 0],
    [2, 3],
    [3, 2],
    [2, 5],
    [3, 4],
  ]);
  const thickness = chance.between(0.16, 0.3);
  const ribs = chance.whole(0, 12);
  const depth = chance.between(0, 0.25);
  const path = (part: number): Vector => {
    const angle = 2 * Math.PI * part;
    const reach = 1 + 0.35 * Math.cos(twists * angle);
    return [
      reach * Math.cos(turns * angle),
      reach * Math.sin(turns * angle),
      0.45 * Math.sin(twists * angle) + 0.1 * Math.sin(angle),
    ];
  };
  const point = (along: number, across: number): Vector => {
    const centre = path(along);
    const forward = unit(minus(path(along + NUDGE), path(along - NUDGE)));
    const side = unit(cross(forward, [0, 0, 1]));
    const up = cross(side, forward);
    const angle = 2 * Math.PI * across;
    const radius = thickness * (1 + depth * Math.cos(ribs * (2 * Math.PI * along)));
    const [right, over] = [radius * Math.cos(angle), radius * Math.sin(angle)];
    return [
      centre[0] + right * side[0] + over * up[0],
      centre[1] + right * side[1] + over * up[1],
      centre[2] + right * side[2] + over * up[2],
    ];
  };
  return gridOf(point);
}

function gridOf(point: (along: number, across: number) => Vector): Surface {
  const count = AROUND * ACROSS;
  const positions = new Float32Array(3 * count);
  const normals = new Float32Array(3 * count);
  const indices = new Uint32Array(6 * count);
  for (let along = 0; along < AROUND; along += 1) {
    for (let across = 0; across < ACROSS; across += 1) {
      const vertex = along * ACROSS + across;
      const [u, v] = [along / AROUND, across / ACROSS];
      positions.set(point(u, v), 3 * vertex);
      const lengthwise = minus(point(u + NUDGE, v), point(u - NUDGE, v));
      const crosswise = minus(point(u, v + NUDGE), point(u, v - NUDGE));
      normals.set(unit(cross(lengthwise, crosswise)), 3 * vertex);
      const next = ((along + 1) % AROUND) * ACROSS;
      const beside = (across + 1) % ACROSS;
      const [a, b, c, d] = [vertex, next + across, next + beside, along * ACROSS + beside];
      indices.set([a, b, c, a, c, d], 6 * vertex);
    }
  }
  return { positions, normals, indices };
}

const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
function unit(vector: Vector): Vector {
  const length = Math.hypot(...vector) || 1;
  return [vector[0] / length, vector[1] / length, vector[2] / length];
}
