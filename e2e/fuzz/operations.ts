import { openApiDocument } from '@review/contract';
import type { JsonSchema } from '../../packages/contract/src/test/json-samples.ts';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: JsonSchema;
}

type Content = Record<string, { schema?: JsonSchema }>;
/** A problem refers to the response that is named after the codes that it can have. */
export type Answers = Record<string, { content?: Content; $ref?: string }>;

interface Described {
  operationId: string;
  parameters: (Parameter | { $ref: string })[];
  requestBody?: { required?: boolean; content: Content };
  responses: Answers;
}

interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, JsonSchema> };
}

/** An operation as the OpenAPI document describes it. */
export interface Operation {
  name: string;
  method: string;
  path: string;
  query: JsonSchema;
  body: JsonSchema | null;
  responses: Answers;
}

const document: Document = JSON.parse(JSON.stringify(openApiDocument({ version: '1.0.0' })));
export const { schemas } = document.components;

export const operations: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, parameters, requestBody, responses }]) => {
    const sent = parameters.filter((parameter) => 'name' in parameter).filter((parameter) => parameter.in === 'query');
    return {
      name: operationId,
      method: method.toUpperCase(),
      path,
      query: {
        type: 'object',
        properties: Object.fromEntries(sent.map(({ name, schema }) => [name, schema])),
        required: sent.filter(({ required }) => required === true).map(({ name }) => name),
        additionalProperties: false,
      },
      body: requestBody?.content['application/json']?.schema ?? null,
      responses,
    };
  }),
);
