import { type FileHandle, open } from 'node:fs/promises';
import { NO_FACTS } from '@review/contract';
import sharp from 'sharp';
import { drawTriangles, type Triangle } from './draw-triangles.ts';
import { type Glb, type Gltf, readBytes, readGlb } from './glb.ts';
import { compose, IDENTITY, type Matrix, multiply, transform, type Vector } from './matrix.ts';
import { type ReadOrder, type ReadResult, Refused } from './read-order.ts';
import { writeStills } from './stills.ts';

/** The side of the drawing in pixels: twice the poster, for smooth edges. */
const SIDE = 1280;
/** Further triangles are counted and not drawn. */
const MAX_DRAWN = 500_000;
const MAX_NODES = 100_000;
const TRIANGLES = 4;
const STRIPS_AND_FANS = [5, 6];
const GREY = [0.8, 0.8, 0.8];

type Primitive = NonNullable<Gltf['meshes']>[number]['primitives'][number];
interface Placed {
  primitive: Primitive;
  matrix: Matrix;
}

/** Counts the triangles of a GLB model, and draws it. */
export async function readModel({ input, output }: ReadOrder): Promise<ReadResult> {
  await using file = await open(input);
  const glb = await readGlb(file);
  const placed = [...primitivesOf(glb.gltf)];
  const triangleCount = placed.reduce((sum, { primitive }) => sum + countTriangles(glb.gltf, primitive), 0);
  const triangles: Triangle[] = [];
  for (const each of placed) await addTriangles(file, glb, each, triangles);
  const facts = { ...NO_FACTS, triangleCount };
  // Compressed geometry is counted and not drawn.
  if (triangles.length === 0) return { facts, files: [] };
  const raw = { width: SIDE, height: SIDE, channels: 4 } as const;
  const picture = sharp(drawTriangles(triangles, SIDE), { raw });
  const { files, placeholder } = await writeStills(picture, output);
  return { facts: { ...facts, placeholder }, files };
}

/** Yields the primitives of the scene, once for each node that shows them. */
function* primitivesOf({ scene = 0, scenes, nodes = [], meshes = [] }: Gltf): Generator<Placed> {
  const roots = scenes?.[scene]?.nodes ?? nodes.keys();
  const open: { index: number; parent: Matrix }[] = [...roots].map((index) => ({ index, parent: IDENTITY }));
  for (let visited = 0; ; visited++) {
    const next = open.pop();
    if (next === undefined) return;
    // Nodes that contain each other would never end.
    if (visited > MAX_NODES) throw new Refused('LIMIT_EXCEEDED', `The model has more than ${MAX_NODES} nodes.`);
    const node = nodes[next.index];
    if (node === undefined) continue;
    const matrix = multiply(next.parent, node.matrix ?? compose(node));
    for (const index of node.children ?? []) open.push({ index, parent: matrix });
    const mesh = node.mesh === undefined ? undefined : meshes[node.mesh];
    for (const primitive of mesh?.primitives ?? []) yield { primitive, matrix };
  }
}

function countTriangles({ accessors = [] }: Gltf, { attributes, indices, mode = TRIANGLES }: Primitive): number {
  const count = accessors[indices ?? attributes['POSITION'] ?? -1]?.count ?? 0;
  if (mode === TRIANGLES) return Math.floor(count / 3);
  return STRIPS_AND_FANS.includes(mode) ? Math.max(0, count - 2) : 0;
}

async function addTriangles(file: FileHandle, glb: Glb, { primitive, matrix }: Placed, to: Triangle[]): Promise<void> {
  const { attributes, indices, material, mode = TRIANGLES } = primitive;
  if (mode !== TRIANGLES || to.length >= MAX_DRAWN) return;
  const positions = await readNumbers(file, glb, attributes['POSITION'], 3);
  if (positions === null) return;
  const order = indices === undefined ? null : await readNumbers(file, glb, indices, 1);
  if (indices !== undefined && order === null) return;
  const factor = glb.gltf.materials?.[material ?? -1]?.pbrMetallicRoughness?.baseColorFactor ?? GREY;
  const [red = 0, green = 0, blue = 0] = factor;
  const corner = (number: number): Vector => {
    const index = (order === null ? number : (order[number] ?? 0)) * 3;
    return transform(matrix, [positions[index] ?? 0, positions[index + 1] ?? 0, positions[index + 2] ?? 0]);
  };
  const corners = order?.length ?? positions.length / 3;
  for (let first = 0; first + 2 < corners && to.length < MAX_DRAWN; first += 3) {
    to.push({ corners: [corner(first), corner(first + 1), corner(first + 2)], color: [red, green, blue] });
  }
}

const READERS: Record<number, { bytes: number; read: (from: Buffer, offset: number) => number }> = {
  5121: { bytes: 1, read: (from, offset) => from.readUInt8(offset) },
  5123: { bytes: 2, read: (from, offset) => from.readUInt16LE(offset) },
  5125: { bytes: 4, read: (from, offset) => from.readUInt32LE(offset) },
  5126: { bytes: 4, read: (from, offset) => from.readFloatLE(offset) },
};

/** Returns the numbers of an accessor; null if they are compressed, quantised or outside of the file. */
async function readNumbers(
  file: FileHandle,
  { gltf, binary }: Glb,
  accessorIndex: number | undefined,
  width: 1 | 3,
): Promise<Float64Array | null> {
  const accessor = gltf.accessors?.[accessorIndex ?? -1];
  const view = gltf.bufferViews?.[accessor?.bufferView ?? -1];
  if (accessor === undefined || view === undefined || view.extensions !== undefined) return null;
  const reader = READERS[accessor.componentType];
  if (reader === undefined || (width === 3) !== (accessor.componentType === 5126)) return null;
  if (view.buffer !== 0 || gltf.buffers?.[0]?.uri !== undefined) return null;
  const stride = view.byteStride || reader.bytes * width;
  const count = Math.min(accessor.count, MAX_DRAWN * 3);
  const start = (view.byteOffset ?? 0) + (accessor.byteOffset ?? 0);
  const length = count === 0 ? 0 : (count - 1) * stride + reader.bytes * width;
  if (start + length > binary.length) throw new Refused('UNREADABLE', 'The model refers to data outside of the file.');
  const bytes = await readBytes(file, binary.start + start, length);
  const numbers = new Float64Array(count * width);
  for (let index = 0; index < count; index++) {
    for (let axis = 0; axis < width; axis++) {
      numbers[index * width + axis] = reader.read(bytes, index * stride + axis * reader.bytes);
    }
  }
  return numbers;
}
