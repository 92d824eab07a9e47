import { z } from 'zod';
import type { ErrorClasses } from '../../test/error-codes.ts';
import { type Double, type Order, Refused, type Reply, startDouble, type VendorRequest } from './double.ts';
import { marked, mediaOf } from './media.ts';
import { integer, list, object, required, string, words } from './published-schemas.ts';
import { RESULT_URL, VendorDouble } from './vendor-double.ts';

export const GOOGLE_KEY = 'AIza-double-0123456789abcdef';

export interface GoogleDouble extends Double {
  picture: Buffer;
  /** The picture to return; the same for every prompt by default. */
  pictureFor: (prompt: string) => Buffer;
  /** The answer to an image request, in place of a picture. */
  answer: () => object | undefined;
  /** The answer to a poll of an operation; undefined once it has its video. */
  operation: (order: Order, looks: number) => object | undefined;
  /** The redirect target of a file; the double itself by default. */
  media: string;
}

/** The Gemini API with images and Veo, as documented. */
export async function startGoogle(): Promise<GoogleDouble> {
  const double = await startDouble(answer);
  const google: GoogleDouble = Object.assign(double, {
    picture: await mediaOf('gemini-3-pro-image', ''),
    pictureFor: () => google.picture,
    answer: () => undefined,
    operation: () => undefined,
    media: double.url,
  });

  async function answer(request: VendorRequest): Promise<Reply> {
    const { method, path } = request;
    // The redirect target of files: public, and must not receive a key.
    const file = path.match(/^\/media\/(.+)$/)?.[1];
    if (file !== undefined) return media(request, file);
    authorize(request);
    if (method === 'GET' && path === '/v1beta/models') {
      return { body: { models: [...IMAGE_MODELS, ...VIDEO_MODELS].map((id) => ({ name: `models/${id}` })) } };
    }
    const [, model = '', verb] = path.match(/^\/v1beta\/models\/([^/:]+):(\w+)$/) ?? [];
    if (method === 'POST' && verb === 'generateContent') return draw(model, request.body);
    if (method === 'POST' && verb === 'predictLongRunning') return film(model, request.body);
    const operation = path.match(/^\/v1beta\/(models\/[^/]+\/operations\/[^/]+)$/)?.[1];
    if (method === 'GET' && operation !== undefined) return look(operation, request.count);
    const download = path.match(/^\/v1beta\/files\/(.+):download$/)?.[1];
    if (method === 'GET' && download !== undefined) {
      return { status: 302, headers: { location: `${google.media}/media/${download}?signature=secret-of-google` } };
    }
    throw refuse(404, 'NOT_FOUND', 'Not found.');
  }

  function draw(model: string, body: unknown): Reply {
    if (!IMAGE_MODELS.has(model)) throw refuse(404, 'NOT_FOUND', `models/${model} is not found.`);
    const { contents, generationConfig } = checked(Content, body);
    const { imageSize } = generationConfig.imageConfig;
    if (model.includes('lite') && imageSize !== '1K') throw refuse(400, 'INVALID_ARGUMENT', 'Only 1K.');
    const { prompt } = double.take({ prompt: contents[0]?.parts.at(-1)?.text ?? '' });
    const made = google.answer();
    if (made !== undefined) return { body: made };
    const draft = { thought: true, inlineData: { mimeType: 'image/png', data: 'ZHJhZnQ=' } };
    const picture = { inlineData: { mimeType: 'image/png', data: google.pictureFor(prompt).toString('base64') } };
    const parts = [draft, { text: 'Here it is.' }, picture];
    return { body: { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }], usageMetadata: {} } };
  }

  function film(model: string, body: unknown): Reply {
    if (!VIDEO_MODELS.has(model)) throw refuse(404, 'NOT_FOUND', `models/${model} is not found.`);
    const { instances, parameters } = checked(Video, body);
    const [{ prompt, image, lastFrame, referenceImages = [] }] = instances;
    const lite = model.includes('lite');
    const long = parameters.resolution !== '720p' || referenceImages.length > 0;
    if (long && parameters.durationSeconds !== 8) throw refuse(400, 'INVALID_ARGUMENT', 'Eight seconds only.');
    if (image && referenceImages.length > 0) throw refuse(400, 'INVALID_ARGUMENT', 'Either an image or references.');
    if (lastFrame && !image) throw refuse(400, 'INVALID_ARGUMENT', 'A last frame needs a first one.');
    if (lite && (parameters.resolution === '4k' || referenceImages.length > 0)) {
      throw refuse(400, 'INVALID_ARGUMENT', 'Not on this model.');
    }
    const { id } = double.take({ prompt, id: `models/${model}/operations/op${double.orders.length + 1}` });
    return { body: { name: id } };
  }

  function look(name: string, looks: number): Reply {
    const order = double.orders.find(({ id }) => id === name);
    if (order === undefined) throw refuse(404, 'NOT_FOUND', 'Operation not found.');
    const said = google.operation(order, looks);
    if (said !== undefined) return { body: { name, ...said } };
    const uri = `${double.url}/v1beta/files/${name.split('/').at(-1)}:download?alt=media`;
    const generateVideoResponse = { generatedSamples: [{ video: { uri } }] };
    return { body: { name, done: true, response: { generateVideoResponse } } };
  }

  async function media({ headers, query }: VendorRequest, file: string): Promise<Reply> {
    if (query.get('signature') !== 'secret-of-google') return { status: 403, body: 'no' };
    if (google.media !== double.url && headers['x-goog-api-key'] !== undefined) return { status: 400, body: 'a key' };
    const bytes = await mediaOf('veo-3.1-generate-preview', file);
    return { headers: { 'content-type': 'video/mp4', 'content-length': String(bytes.length) }, body: bytes };
  }

  return google;
}

function authorize({ headers, query }: VendorRequest): void {
  const key = headers['x-goog-api-key'] ?? query.get('key');
  if (key === undefined || key === null) throw refuse(403, 'PERMISSION_DENIED', 'Method needs an API key.');
  if (key !== GOOGLE_KEY) throw refuse(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.');
}

const IMAGE_MODELS = new Set(['gemini-3-pro-image', 'gemini-3.1-flash-image', 'gemini-3.1-flash-lite-image']);
const VIDEO_MODELS = new Set(['veo-3.1-generate-preview', 'veo-3.1-lite-generate-preview']);

const refuse = (code: number, status: string, message: string) => new Refused(googleError(code, status, message));

/** Google's canonical codes with the statuses that they come with. */
export const ERROR_CODES: Record<number, string[]> = {
  400: ['INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'OUT_OF_RANGE'],
  401: ['UNAUTHENTICATED'],
  403: ['PERMISSION_DENIED'],
  404: ['NOT_FOUND'],
  409: ['ABORTED', 'ALREADY_EXISTS'],
  429: ['RESOURCE_EXHAUSTED'],
  499: ['CANCELLED'],
  500: ['INTERNAL', 'UNKNOWN', 'DATA_LOSS'],
  501: ['UNIMPLEMENTED'],
  503: ['UNAVAILABLE'],
  504: ['DEADLINE_EXCEEDED'],
};

export const ERROR_CLASSES: ErrorClasses = {
  AUTH: ['401', '403', '404'],
  RATE_LIMITED: ['429'],
  TRANSIENT: ['409', '499', '500', '503', '504'],
};

/** A refusal in the vendor's form. */
export const googleError = (code: number, status: string, message: string, details: object[] = []): Reply => ({
  status: code,
  body: { error: { code, message, status, details } },
});

export const retryInfo = (retryDelay: string) => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
});

function checked<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw refuse(400, 'INVALID_ARGUMENT', z.prettifyError(parsed.error));
}

const InlineData = z.strictObject({
  mimeType: z.enum(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif']),
  data: z.string().min(1),
});
const Content = z.strictObject({
  contents: z
    .array(
      z.strictObject({
        role: z.literal('user'),
        parts: z.array(z.strictObject({ text: z.string().optional(), inlineData: InlineData.optional() })).min(1),
      }),
    )
    .length(1),
  generationConfig: z.strictObject({
    responseModalities: z.array(z.string()).refine((modalities) => modalities.includes('IMAGE')),
    imageConfig: z.strictObject({ aspectRatio: z.string().optional(), imageSize: z.enum(['512', '1K', '2K', '4K']) }),
  }),
});

const Frame = z.strictObject({
  bytesBase64Encoded: z.string().min(1),
  mimeType: z.enum(['image/png', 'image/jpeg']),
});
const Video = z.strictObject({
  instances: z.tuple([
    z.strictObject({
      prompt: z.string().min(1),
      image: Frame.optional(),
      lastFrame: Frame.optional(),
      referenceImages: z
        .array(z.strictObject({ image: Frame, referenceType: z.stringFormat('asset', /^asset$/i) }))
        .max(3)
        .optional(),
    }),
  ]),
  parameters: z.strictObject({
    sampleCount: z.literal(1),
    durationSeconds: z.union([z.literal(4), z.literal(6), z.literal(8)]),
    aspectRatio: z.enum(['16:9', '9:16']),
    resolution: z.enum(['720p', '1080p', '4k']),
  }),
});

const frame = object({ bytesBase64Encoded: required(string()), mimeType: required(string('image/png', 'image/jpeg')) });

const operation = (more: object) => ({ name: 'models/veo/operations/op1', metadata: { '@type': 'v' }, ...more });
const PICTURE = Buffer.from('a picture').toString('base64');

export const GOOGLE = new VendorDouble({
  families: ['gemini-image', 'veo'],
  settings: (url) => ({ GEMINI_API_KEY: GOOGLE_KEY, GEMINI_BASE_URL: url }),
  async start() {
    const double = await startGoogle();
    double.pictureFor = (prompt) => marked(double.picture, prompt);
    return {
      double,
      outputTypeOf: ({ id }) => (id.includes('/operations/') ? 'VIDEO' : 'IMAGE'),
      mediaFor: ({ id, prompt }) => {
        const [, name] = id.split('/operations/');
        return name === undefined ? double.pictureFor(prompt) : mediaOf('veo-3.1-generate-preview', name);
      },
    };
  },
  checks: {
    'gemini-image': 'it has gemini-3-pro-image, gemini-3.1-flash-image, gemini-3.1-flash-lite-image',
    veo: 'it has veo-3.1-generate-preview, veo-3.1-lite-generate-preview',
  },
  pages: {
    '/v1beta/models:generateContent': {
      contents: required(
        list(
          object({
            role: string('user', 'model'),
            parts: required(
              list(
                object({
                  text: string(),
                  inlineData: object({ mimeType: required(string()), data: required(string()) }),
                }),
              ),
            ),
          }),
          { min: 1 },
        ),
      ),
      generationConfig: object({
        responseModalities: list(string('TEXT', 'IMAGE')),
        imageConfig: object({ aspectRatio: string(), imageSize: string('512', '1K', '2K', '4K') }),
      }),
      safetySettings: list(object({ category: string(), threshold: string() })),
    },
    '/v1beta/models:predictLongRunning': {
      instances: required(
        list(
          object({
            prompt: required(words(10_000)),
            image: frame,
            lastFrame: frame,
            referenceImages: list(
              object({ image: required(frame), referenceType: required(string('asset', 'ASSET')) }),
              {
                max: 3,
              },
            ),
          }),
          { min: 1, max: 1 },
        ),
      ),
      parameters: object({
        sampleCount: integer(1, 4),
        durationSeconds: { type: 'integer', values: [4, 6, 8] },
        aspectRatio: string('16:9', '9:16'),
        resolution: string('720p', '1080p', '4k'),
        personGeneration: string('allow_all', 'allow_adult', 'dont_allow'),
        negativePrompt: string(),
      }),
    },
  },
  pageOf: ({ path }) => path.replace(/^(\/v1beta\/models)\/[^:]+/, '$1'),
  jobAnswers: [
    {
      name: 'veo',
      model: 'veo-3.1-generate-preview',
      job: { id: 'models/veo/operations/op1', orderedAt: 0 },
      running: [operation({}), operation({ done: false })],
      succeeded: operation({
        done: true,
        response: {
          '@type': 'r',
          generateVideoResponse: { generatedSamples: [{ video: { uri: RESULT_URL, encoding: 'mp4' } }] },
        },
      }),
      result: 'response.generateVideoResponse.generatedSamples.0.video.uri',
      failed: operation({ done: true, error: { code: 13, message: 'Oops.', details: [] } }),
      status: 'done',
    },
  ],
  resultAnswers: [
    {
      name: 'gemini-image',
      model: 'gemini-3-pro-image',
      answer: {
        candidates: [
          {
            content: {
              role: 'model',
              parts: [
                { thought: true, inlineData: { mimeType: 'image/png', data: 'ZHJhZnQ=' } },
                { text: 'Here it is.' },
                { inlineData: { mimeType: 'image/png', data: PICTURE } },
              ],
            },
            finishReason: 'STOP',
            safetyRatings: null,
          },
        ],
        usageMetadata: { totalTokenCount: 1 },
        modelVersion: 'gemini-3-pro-image',
      },
      reply: (body) => ({ body }),
      wanted: 'a picture',
      // The library itself reads the usage.
      needed: ['candidates.0.content.parts.2.inlineData.data', 'usageMetadata'],
    },
  ],
});
