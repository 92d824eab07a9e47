import { type FileHandle, open } from 'node:fs/promises';
import { NO_FACTS } from '@review/contract/no-facts';
import sharp from 'sharp';
import { drawTriangles, type Paint, type Texture, type Triangle, type Wrap } from './draw-triangles.ts';
import { type Glb, type Gltf, readBytes, readGlb } from './glb.ts';
import { limitLoaders } from './loaders.ts';
import { compose, IDENTITY, type Matrix, multiply, transform, type Vector } from './matrix.ts';
import type { ReadOrder, ReadResult } from './read-order.ts';
import { Refused } from './refused.ts';
import { writeStills } from './stills.ts';

/** The side of the drawing in pixels: twice the poster, for smooth edges. */
const SIDE = 1280;
/** Further triangles are counted and not drawn. */
const MAX_DRAWN = 500_000;
const MAX_NODES = 100_000;
/** Textures are scaled down to this side, which is enough for a drawing of this size. */
const TEXTURE_SIDE = 1024;
/** Further textures, and larger ones, are not drawn. */
const MAX_TEXTURES = 50;
const MAX_TEXTURE_BYTES = 64 * 1024 * 1024;
const TRIANGLES = 4;
const STRIPS_AND_FANS = [5, 6];
const GREY = [0.8, 0.8, 0.8];
const WHITE = [1, 1, 1];
const NO_PLACES: readonly number[] = [];

type Primitive = NonNullable<Gltf['meshes']>[number]['primitives'][number];
interface Placed {
  primitive: Primitive;
  matrix: Matrix;
}

/** Counts the triangles of a GLB model, and draws it. */
export async function readModel({ input, output, maxPixels }: ReadOrder): Promise<ReadResult> {
  await using file = await open(input);
  const glb = await readGlb(file);
  const placed = [...primitivesOf(glb.gltf)];
  const triangleCount = placed.reduce((sum, { primitive }) => sum + countTriangles(glb.gltf, primitive), 0);
  const triangles: Triangle[] = [];
  const textures = new Textures(file, glb, maxPixels);
  for (const each of placed) await addTriangles(file, glb, each, textures, triangles);
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

async function addTriangles(
  file: FileHandle,
  glb: Glb,
  { primitive, matrix }: Placed,
  textures: Textures,
  to: Triangle[],
): Promise<void> {
  const { attributes, indices, material, mode = TRIANGLES } = primitive;
  if (mode !== TRIANGLES || to.length >= MAX_DRAWN) return;
  const positions = await readNumbers(file, glb, attributes['POSITION'], 3);
  if (positions === null) return;
  const order = indices === undefined ? null : await readNumbers(file, glb, indices, 1);
  if (indices !== undefined && order === null) return;
  const { pbrMetallicRoughness: look, alphaMode } = glb.gltf.materials?.[material ?? -1] ?? {};
  const { index, texCoord = 0 } = look?.baseColorTexture ?? {};
  const places = index === undefined ? null : await readNumbers(file, glb, attributes[`TEXCOORD_${texCoord}`], 2);
  const texture = places && (await textures.read(index, alphaMode === 'MASK' || alphaMode === 'BLEND'));
  const pointOf = (number: number) => (order === null ? number : (order[number] ?? 0));
  const color = (look?.baseColorFactor ?? (texture === null ? GREY : WHITE)).slice(0, 3);
  const paint: Paint = { color, texture };
  const corner = (number: number): Vector => {
    const index = pointOf(number) * 3;
    return transform(matrix, [positions[index] ?? 0, positions[index + 1] ?? 0, positions[index + 2] ?? 0]);
  };
  const placesFrom = (first: number): readonly number[] => {
    if (texture === null || places === null) return NO_PLACES;
    const placeOf = (number: number) => [places[pointOf(number) * 2] ?? 0, places[pointOf(number) * 2 + 1] ?? 0];
    return [first, first + 1, first + 2].flatMap(placeOf);
  };
  const corners = order?.length ?? positions.length / 3;
  for (let first = 0; first + 2 < corners && to.length < MAX_DRAWN; first += 3) {
    to.push({ corners: [corner(first), corner(first + 1), corner(first + 2)], paint, places: placesFrom(first) });
  }
}

const FLOAT = 5126;
/** `max` stands for 1 in coordinates of textures. */
const READERS: Record<number, { bytes: number; max: number; read: (from: Buffer, offset: number) => number }> = {
  5121: { bytes: 1, max: 0xff, read: (from, offset) => from.readUInt8(offset) },
  5123: { bytes: 2, max: 0xffff, read: (from, offset) => from.readUInt16LE(offset) },
  5125: { bytes: 4, max: 0xffffffff, read: (from, offset) => from.readUInt32LE(offset) },
  [FLOAT]: { bytes: 4, max: 1, read: (from, offset) => from.readFloatLE(offset) },
};

type View = NonNullable<Gltf['bufferViews']>[number];

/** Whether the data is in the binary part of the file. Other files are not read. */
const isInFile = ({ buffers }: Gltf, { buffer }: View): boolean => buffer === 0 && buffers?.[0]?.uri === undefined;

async function readBinary(file: FileHandle, binary: Glb['binary'], start: number, length: number): Promise<Buffer> {
  if (start + length > binary.length) throw new Refused('UNREADABLE', 'The model refers to data outside of the file.');
  return readBytes(file, binary.start + start, length);
}

/** Decodes the textures of a model, each once. */
class Textures {
  readonly #file: FileHandle;
  readonly #glb: Glb;
  readonly #decoded = new Map<number, Promise<Pick<Texture, 'pixels' | 'width' | 'height'> | null>>();
  /** How many pixels may still be decoded. */
  #pixelsLeft: number;

  constructor(file: FileHandle, glb: Glb, maxPixels: number) {
    this.#file = file;
    this.#glb = glb;
    this.#pixelsLeft = maxPixels;
  }

  /** Returns null if it cannot be read, or if the textures before it have used up the pixels: then the colour of the material is drawn. */
  async read(index: number | undefined, hasHoles: boolean): Promise<Texture | null> {
    const { textures, samplers } = this.#glb.gltf;
    const { source, sampler, extensions } = textures?.[index ?? -1] ?? {};
    const image = extensions?.EXT_texture_webp?.source ?? source;
    if (image === undefined) return null;
    const decoding = this.#decoded.get(image) ?? this.#decode(image);
    this.#decoded.set(image, decoding);
    const decoded = await decoding;
    const { wrapS, wrapT } = samplers?.[sampler ?? -1] ?? {};
    return decoded && { ...decoded, wrap: [wrapOf(wrapS), wrapOf(wrapT)], hasHoles };
  }

  async #decode(image: number) {
    const { gltf, binary } = this.#glb;
    const view = gltf.bufferViews?.[gltf.images?.[image]?.bufferView ?? -1];
    if (view === undefined || !isInFile(gltf, view)) return null;
    // For sharp, 0 pixels mean no limit.
    if (this.#decoded.size >= MAX_TEXTURES || view.byteLength > MAX_TEXTURE_BYTES || this.#pixelsLeft < 1) return null;
    const bytes = await readBinary(this.#file, binary, view.byteOffset ?? 0, view.byteLength);
    limitLoaders('image/png');
    try {
      const picture = sharp(bytes, { limitInputPixels: this.#pixelsLeft, failOn: 'error' });
      const { width, height } = await picture.metadata();
      this.#pixelsLeft -= width * height;
      const scaled = picture.resize({
        width: TEXTURE_SIDE,
        height: TEXTURE_SIDE,
        fit: 'inside',
        withoutEnlargement: true,
      });
      const { data, info } = await scaled
        .toColourspace('srgb')
        .ensureAlpha()
        .raw()
        .toBuffer({ resolveWithObject: true });
      return { pixels: data, width: info.width, height: info.height };
    } catch {
      return null;
    }
  }
}

/** The constants of glTF. */
const wrapOf = (constant: number | undefined): Wrap =>
  constant === 33071 ? 'clamp' : constant === 33648 ? 'mirror' : 'repeat';

/** Returns the numbers of an accessor; null if they are compressed, quantised or outside of the file. */
async function readNumbers(
  file: FileHandle,
  { gltf, binary }: Glb,
  accessorIndex: number | undefined,
  width: 1 | 2 | 3,
): Promise<Float64Array | null> {
  const accessor = gltf.accessors?.[accessorIndex ?? -1];
  const view = gltf.bufferViews?.[accessor?.bufferView ?? -1];
  if (accessor === undefined || view === undefined || view.extensions !== undefined) return null;
  const reader = READERS[accessor.componentType];
  const isFloat = accessor.componentType === FLOAT;
  if (reader === undefined || (width === 3 && !isFloat) || (width === 1 && isFloat)) return null;
  if (!isInFile(gltf, view)) return null;
  const stride = view.byteStride || reader.bytes * width;
  const count = Math.min(accessor.count, MAX_DRAWN * 3);
  const start = (view.byteOffset ?? 0) + (accessor.byteOffset ?? 0);
  const length = count === 0 ? 0 : (count - 1) * stride + reader.bytes * width;
  const bytes = await readBinary(file, binary, start, length);
  const numbers = new Float64Array(count * width);
  for (let index = 0; index < count; index++) {
    for (let axis = 0; axis < width; axis++) {
      const number = reader.read(bytes, index * stride + axis * reader.bytes);
      numbers[index * width + axis] = width === 2 ? number / reader.max : number;
    }
  }
  return numbers;
}
