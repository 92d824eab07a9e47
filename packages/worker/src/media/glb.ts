import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { Refused } from './refused.ts';

const MAGIC = 0x46546c67;
const JSON_CHUNK = 0x4e4f534a;
const BINARY_CHUNK = 0x004e4942;
const MAX_JSON_BYTES = 64 * 1024 * 1024;

const Index = z.number().int().min(0);
const Count = Index.max(2 ** 32);

/** The parts of glTF that a still needs. */
const Gltf = z.object({
  scene: Index.optional(),
  scenes: z.array(z.object({ nodes: z.array(Index).optional() })).optional(),
  nodes: z
    .array(
      z.object({
        mesh: Index.optional(),
        children: z.array(Index).optional(),
        matrix: z.array(z.number()).length(16).optional(),
        translation: z.array(z.number()).length(3).optional(),
        rotation: z.array(z.number()).length(4).optional(),
        scale: z.array(z.number()).length(3).optional(),
      }),
    )
    .optional(),
  meshes: z
    .array(
      z.object({
        primitives: z.array(
          z.object({
            attributes: z.record(z.string(), Index),
            indices: Index.optional(),
            material: Index.optional(),
            mode: z.number().int().optional(),
          }),
        ),
      }),
    )
    .optional(),
  materials: z
    .array(
      z.object({
        pbrMetallicRoughness: z
          .object({
            baseColorFactor: z.array(z.number()).length(4).optional(),
            baseColorTexture: z.object({ index: Index, texCoord: Index.optional() }).optional(),
          })
          .optional(),
        alphaMode: z.string().optional(),
      }),
    )
    .optional(),
  textures: z
    .array(
      z.object({
        source: Index.optional(),
        sampler: Index.optional(),
        extensions: z.object({ EXT_texture_webp: z.object({ source: Index }).optional() }).optional(),
      }),
    )
    .optional(),
  samplers: z.array(z.object({ wrapS: z.number().optional(), wrapT: z.number().optional() })).optional(),
  images: z.array(z.object({ bufferView: Index.optional() })).optional(),
  accessors: z
    .array(
      z.object({
        bufferView: Index.optional(),
        byteOffset: Count.optional(),
        componentType: z.number().int(),
        count: Count,
        type: z.string(),
      }),
    )
    .optional(),
  bufferViews: z
    .array(
      z.object({
        buffer: Index,
        byteOffset: Count.optional(),
        byteLength: Count,
        byteStride: Count.optional(),
        extensions: z.record(z.string(), z.unknown()).optional(),
      }),
    )
    .optional(),
  buffers: z.array(z.object({ uri: z.string().optional() })).optional(),
});
export type Gltf = z.infer<typeof Gltf>;

export interface Glb {
  gltf: Gltf;
  /** Where the binary chunk starts and how long it is. */
  binary: { start: number; length: number };
}

/** Reads the JSON of a GLB file. Binary data stays in the file. */
export async function readGlb(file: FileHandle): Promise<Glb> {
  const { size } = await file.stat();
  const head = await readBytes(file, 0, 20);
  const length = head.readUInt32LE(12);
  if (head.readUInt32LE(0) !== MAGIC || head.readUInt32LE(4) !== 2 || head.readUInt32LE(16) !== JSON_CHUNK)
    throw new Refused('UNREADABLE', 'The file is not a GLB file of version 2.');
  if (length > MAX_JSON_BYTES) throw new Refused('LIMIT_EXCEEDED', 'The model has more than 64 MB of JSON.');
  const json = await readBytes(file, 20, length);
  const gltf = Gltf.parse(JSON.parse(json.toString('utf8')));
  const next = 20 + length;
  if (next + 8 > size) return { gltf, binary: { start: size, length: 0 } };
  const chunk = await readBytes(file, next, 8);
  if (chunk.readUInt32LE(4) !== BINARY_CHUNK) return { gltf, binary: { start: size, length: 0 } };
  return { gltf, binary: { start: next + 8, length: Math.min(chunk.readUInt32LE(0), size - next - 8) } };
}

/** Reads exactly that many bytes. */
export async function readBytes(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const { size } = await file.stat();
  if (start + length > size) throw new Refused('UNREADABLE', 'The file is truncated.');
  const bytes = Buffer.alloc(length);
  await file.read(bytes, 0, length, start);
  return bytes;
}
