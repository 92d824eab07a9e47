import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { getForm } from './get-form.ts';
import { contract, openApiDocument, type Room } from './index.ts';
import { type JsonSchema, samplesOf } from './test/json-samples.ts';
import { ids, refusal } from './test/refusal.ts';

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  schema: JsonSchema;
}
interface Operation {
  operationId: string;
  parameters: Parameter[];
  requestBody?: { content: { 'application/json': { schema: JsonSchema } } };
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema> };
}

const document: Document = JSON.parse(JSON.stringify(openApiDocument({ version: '1.0.0' })));
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const { schemas } = document.components;
const validatorOf = (schema: JsonSchema) => ajv.compile({ ...schema, components: { schemas } });
const resolve = (reference: string) => {
  const found = schemas[reference.replace('#/components/schemas/', '')];
  if (found === undefined) throw new Error(`there is no ${reference}`);
  return found;
};

const rooms: Record<string, Room> = contract;
function routeOf(operationId: string) {
  const [room = '', verb = '', form] = operationId.split('.');
  const route = rooms[room]?.[verb];
  if (route === undefined) throw new Error(`there is no ${operationId}`);
  return form === 'get' ? (getForm(route) ?? route) : route;
}
const schemaIn = (part: unknown): z.ZodType => (part instanceof z.ZodType ? part : z.never());

const bodies = operations.flatMap(({ operationId, requestBody }) => {
  if (requestBody === undefined) return [];
  const route = routeOf(operationId);
  const { schema } = requestBody.content['application/json'];
  return [{ operationId, schema, accepts: schemaIn('body' in route ? route.body : undefined) }];
});
const bodyOf = (operationId: string) => {
  const found = bodies.find((body) => body.operationId === operationId);
  if (found === undefined) throw new Error(`${operationId} takes no body`);
  return found;
};

describe('a body that fits the document fits the contract', () => {
  it.each(bodies)('$operationId', ({ schema, accepts }) => {
    const isValid = validatorOf(schema);
    const samples = samplesOf(schema, resolve).filter((body) => isValid(body));
    fc.assert(
      fc.property(samples, (body) => {
        expect(refusal(accepts, body), JSON.stringify(body)).toEqual([]);
      }),
    );
  });
});

describe('a query that fits the document fits the contract', () => {
  /** Parameters that exclude each other, which OpenAPI cannot express. */
  const EXCLUSIVE = [
    ['next', 'prev'],
    ['folder', 'folder.id'],
  ];
  const isExclusive = (query: object) =>
    EXCLUSIVE.every((names) => names.filter((name) => Object.hasOwn(query, name)).length < 2);
  const queries = operations.flatMap(({ operationId, parameters }) => {
    const sent = parameters.filter((parameter) => parameter.in === 'query');
    if (sent.length === 0) return [];
    const properties = Object.fromEntries(sent.map(({ name, schema }) => [name, schema]));
    const required = sent.filter((parameter) => parameter.required).map(({ name }) => name);
    const schema: JsonSchema = { type: 'object', properties, required, additionalProperties: false };
    return [{ operationId, schema, accepts: schemaIn(routeOf(operationId).query) }];
  });

  it.each(queries)('$operationId', ({ schema, accepts }) => {
    const isValid = validatorOf(schema);
    const Query = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));
    const samples = samplesOf(schema, resolve)
      .filter((query) => isValid(query))
      .map((query) => Query.parse(query))
      .filter(isExclusive);
    fc.assert(
      fc.property(samples, (query) => {
        const sent = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
        expect(refusal(accepts, sent), JSON.stringify(sent)).toEqual([]);
      }),
    );
  });
});

describe('the document has the rules between fields of the contract', () => {
  const image = { outputType: 'IMAGE', outputModel: 'gpt-image-2', prompt: 'a', folder: null, attachments: [] };
  const video = { ...image, outputType: 'VIDEO', outputModel: 'veo-3.1-generate-preview' };
  const member = { user: { id: ids.uuid }, role: 'PROJECT_MEMBER' };
  const attached = { id: ids.commentAttachment() };
  const pin = { type: 'PIN', x: 0.5, y: 1, color: '#ff0000', strokeWidth: 0.004 };
  const drawing = { version: 1, shapes: [pin] };
  const drawn = (shape: object) => ({ annotation: { version: 1, shapes: [shape] } });
  const faults: [operationId: string, fault: unknown, mended: unknown][] = [
    ['comments.create', {}, { content: 'a' }],
    ['comments.create', { content: '' }, { content: '', attachments: [attached] }],
    ['comments.create', { parent: { id: ids.uuid } }, { parent: { id: ids.uuid }, attachments: [attached] }],
    ['comments.create', { attachments: [attached, attached] }, { attachments: [attached] }],
    ['comments.createOnFile', { annotation: null }, { annotation: drawing }],
    ['comments.createOnFile', { content: '', anchor: 1 }, { content: '', annotation: drawing }],
    ['comments.createOnFile', { annotation: { ...drawing, version: 2 } }, { annotation: drawing }],
    ['comments.createOnFile', drawn({ ...pin, x: 3 }), drawn({ ...pin, x: 3, z: -2 })],
    ['generation.generate', { ...image, outputType: 'VIDEO' }, image],
    ['generation.generate', { ...image, outputModel: 'pdf' }, { ...image, outputType: 'DOCUMENT', outputModel: 'pdf' }],
    ['generation.generate', { ...image, configs: {} }, { ...video, configs: {} }],
    [
      'generation.generate',
      { ...video, configs: { durationSeconds: 9 } },
      { ...video, configs: { durationSeconds: 8 } },
    ],
    ['generation.generate', { ...video, configs: { resolution: '480p' } }, { ...video, configs: { resolution: '4k' } }],
    [
      'generation.generate',
      { ...video, configs: { aspectRatio: '1:1' } },
      { ...video, configs: { aspectRatio: '9:16' } },
    ],
    [
      'generation.generate',
      { ...video, outputModel: 'minimax-h3', configs: { generateAudio: true } },
      { ...video, outputModel: 'minimax-h3', configs: { generateAudio: false } },
    ],
    ['members.add', { members: [member, member] }, { members: [member] }],
    ['projects.create', { name: 'a', members: [member, member] }, { name: 'a', members: [member] }],
    [
      'accessLinks.create',
      { role: 'PROJECT_MEMBER', expiresAt: '2099-02-29 00:00:00.000000' },
      { role: 'PROJECT_MEMBER', expiresAt: '2096-02-29 00:00:00.000000' },
    ],
    ['accessLinks.create', { role: 'PROJECT_MEMBER', expiresAt: '' }, { role: 'PROJECT_MEMBER', expiresAt: null }],
    ['reactions.create', { type: 'a' }, { type: '👍' }],
    ['reactions.create', { type: '👍👍' }, { type: '👩🏽‍🚀' }],
    ['projects.list', { next: 'a', prev: 'a' }, { next: 'a' }],
  ];
  it.each(faults)('%s %j', (operationId, fault, mended) => {
    const { schema, accepts } = bodyOf(operationId);
    const isValid = validatorOf(schema);
    expect([refusal(accepts, fault).length > 0, isValid(fault)]).toEqual([true, false]);
    expect([refusal(accepts, mended), isValid(mended)]).toEqual([[], true]);
  });
});
