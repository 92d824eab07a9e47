import { Document, type GLTF, NodeIO } from '@gltf-transform/core';

export interface Square {
  nodes?: number;
  color?: [number, number, number];
  indexed?: boolean;
  texture?: { image: Uint8Array; wrap?: GLTF.TextureWrapMode; alphaMode?: GLTF.MaterialAlphaMode };
  /** How often the texture is repeated. */
  times?: number;
}

/** A square of two triangles per node, in that colour, that faces up. */
export function squares({
  nodes = 1,
  color = [1, 0, 0],
  indexed = true,
  texture,
  times = 1,
}: Square): Promise<Uint8Array> {
  const document = new Document();
  const buffer = document.createBuffer();
  const points = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
  ];
  const order = [0, 1, 2, 0, 2, 3];
  const shown = indexed ? points : order.map((index) => points[index] ?? []);
  const accessor = (type: 'VEC2' | 'VEC3', numbers: number[]) =>
    document.createAccessor().setType(type).setArray(new Float32Array(numbers)).setBuffer(buffer);
  const material = document.createMaterial().setBaseColorFactor([...color, 1]);
  const primitive = document
    .createPrimitive()
    .setAttribute(
      'POSITION',
      accessor(
        'VEC3',
        shown.flatMap(([x = 0, z = 0]) => [x, 0, z]),
      ),
    )
    .setMaterial(material);
  if (indexed) primitive.setIndices(document.createAccessor().setArray(new Uint16Array(order)).setBuffer(buffer));
  if (texture !== undefined) {
    primitive.setAttribute(
      'TEXCOORD_0',
      accessor(
        'VEC2',
        shown.flat().map((part) => part * times),
      ),
    );
    material
      .setBaseColorTexture(document.createTexture().setImage(texture.image).setMimeType('image/png'))
      .setAlphaMode(texture.alphaMode ?? 'OPAQUE');
    if (texture.wrap !== undefined) material.getBaseColorTextureInfo()?.setWrapS(texture.wrap).setWrapT(texture.wrap);
  }
  const mesh = document.createMesh().addPrimitive(primitive);
  const scene = document.createScene();
  for (let index = 0; index < nodes; index++) {
    scene.addChild(
      document
        .createNode()
        .setMesh(mesh)
        .setTranslation([index * 2, 0, 0]),
    );
  }
  return new NodeIO().writeBinary(document);
}
