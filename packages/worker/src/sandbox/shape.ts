import { writeFile } from 'node:fs/promises';
import { Document, type Material, type Mesh, NodeIO } from '@gltf-transform/core';
import { sanitizeText } from '../documents/text.ts';
import { type Chance, chanceOf } from './chance.ts';
import { pngOf } from './rasterise.ts';
import type { Maker, SandboxRequest } from './request.ts';
import { labelSvg } from './scene.ts';
import { knotOf, type Surface } from './surface.ts';

/** A power of two, which the oldest viewers require. */
const LABEL_PIXELS = 1024;
const LABEL_WIDTH = 3;

export const makeShape: Maker = async (request, path, task) => {
  const chance = chanceOf(request, 'shape');
  const document = new Document();
  Object.assign(document.getRoot().getAsset(), {
    generator: 'Project Review Service, sandbox provider',
    extras: {
      provider: 'sandbox',
      model: request.outputModel,
      prompt: sanitizeText(request.prompt),
      references: request.references.map(({ name }) => sanitizeText(name)),
    },
  });
  document.createBuffer();
  const shape = mesh(document, 'shape', knotOf(chance), shapeMaterial(document, chance));
  task.progress(0.3);
  const { label, height } = await labelOf(document, request);
  const scene = document.createScene(request.outputModel);
  scene.addChild(document.createNode('shape').setMesh(shape));
  scene.addChild(
    document
      .createNode('label')
      .setMesh(label)
      .setTranslation([0, -1.7 - height / 2, 0]),
  );
  document.getRoot().setDefaultScene(scene);
  await writeFile(path, await new NodeIO().writeBinary(document));
};

const shapeMaterial = (document: Document, chance: Chance): Material =>
  document
    .createMaterial('shape')
    .setBaseColorFactor([chance.between(0.1, 1), chance.between(0.1, 1), chance.between(0.1, 1), 1])
    .setMetallicFactor(chance.between(0, 0.8))
    .setRoughnessFactor(chance.between(0.2, 0.8));

/** Returns a board below the shape with the model and the prompt. */
async function labelOf(document: Document, request: SandboxRequest): Promise<{ label: Mesh; height: number }> {
  const picture = labelSvg(request, LABEL_PIXELS);
  const texture = document
    .createTexture('label')
    .setImage(await pngOf(picture.svg))
    .setMimeType('image/png');
  const material = document
    .createMaterial('label')
    .setBaseColorTexture(texture)
    .setEmissiveTexture(texture)
    .setEmissiveFactor([0.6, 0.6, 0.6])
    .setMetallicFactor(0)
    .setRoughnessFactor(1)
    .setDoubleSided(true);
  const used = picture.height / LABEL_PIXELS;
  const height = LABEL_WIDTH * used;
  const [x, y] = [LABEL_WIDTH / 2, height / 2];
  const board: Surface = {
    positions: new Float32Array([-x, -y, 0, x, -y, 0, x, y, 0, -x, y, 0]),
    normals: new Float32Array([0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]),
    indices: new Uint32Array([0, 1, 2, 0, 2, 3]),
  };
  const label = mesh(document, 'label', board, material);
  const corners = document
    .createAccessor()
    .setType('VEC2')
    .setArray(new Float32Array([0, used, 1, used, 1, 0, 0, 0]));
  for (const primitive of label.listPrimitives()) primitive.setAttribute('TEXCOORD_0', corners);
  return { label, height };
}

function mesh(document: Document, name: string, surface: Surface, material: Material): Mesh {
  const vectors = (array: Float32Array<ArrayBuffer>) => document.createAccessor().setType('VEC3').setArray(array);
  return document
    .createMesh(name)
    .addPrimitive(
      document
        .createPrimitive()
        .setAttribute('POSITION', vectors(surface.positions))
        .setAttribute('NORMAL', vectors(surface.normals))
        .setIndices(document.createAccessor().setType('SCALAR').setArray(surface.indices))
        .setMaterial(material),
    );
}
