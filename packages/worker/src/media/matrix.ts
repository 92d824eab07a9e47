/** A transformation in the order of glTF: column by column. */
export type Matrix = readonly number[];
export type Vector = readonly [number, number, number];

export const IDENTITY: Matrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

const at = (matrix: Matrix, index: number) => matrix[index] ?? 0;

export const multiply = (a: Matrix, b: Matrix): Matrix =>
  Array.from({ length: 16 }, (_, index) => {
    const [column, row] = [Math.floor(index / 4), index % 4];
    let sum = 0;
    for (let k = 0; k < 4; k++) sum += at(a, k * 4 + row) * at(b, column * 4 + k);
    return sum;
  });

interface Placement {
  translation?: readonly number[] | undefined;
  /** A quaternion. */
  rotation?: readonly number[] | undefined;
  scale?: readonly number[] | undefined;
}

export function compose({ translation = [0, 0, 0], rotation = [0, 0, 0, 1], scale = [1, 1, 1] }: Placement): Matrix {
  const [x = 0, y = 0, z = 0, w = 1] = rotation;
  const [sx = 1, sy = 1, sz = 1] = scale;
  const [tx = 0, ty = 0, tz = 0] = translation;
  return [
    (1 - 2 * (y * y + z * z)) * sx,
    2 * (x * y + z * w) * sx,
    2 * (x * z - y * w) * sx,
    0,
    2 * (x * y - z * w) * sy,
    (1 - 2 * (x * x + z * z)) * sy,
    2 * (y * z + x * w) * sy,
    0,
    2 * (x * z + y * w) * sz,
    2 * (y * z - x * w) * sz,
    (1 - 2 * (x * x + y * y)) * sz,
    0,
    tx,
    ty,
    tz,
    1,
  ];
}

export const transform = (matrix: Matrix, [x, y, z]: Vector): Vector => [
  at(matrix, 0) * x + at(matrix, 4) * y + at(matrix, 8) * z + at(matrix, 12),
  at(matrix, 1) * x + at(matrix, 5) * y + at(matrix, 9) * z + at(matrix, 13),
  at(matrix, 2) * x + at(matrix, 6) * y + at(matrix, 10) * z + at(matrix, 14),
];
