import { z } from 'zod';
import type { ErrorClasses } from '../../test/error-codes.ts';
import { type Double, type Order, Refused, type Reply, startDouble, type VendorRequest } from './double.ts';
import { marked, mediaOf } from './media.ts';
import { boolean, integer, required, type Schema, string, words } from './published-schemas.ts';
import { VendorDouble } from './vendor-double.ts';

export const OPENAI_KEY = 'sk-double-0123456789abcdef';

/** The answer of the language model: the streamed text and the finish reason. */
export interface Written {
  text: string;
  finish?: 'stop' | 'length' | 'content_filter';
  refusal?: string;
}

export interface OpenAiDouble extends Double {
  /** The base URL of the API. */
  baseUrl: string;
  picture: Buffer;
  /** The picture to return; the same for every prompt by default. */
  pictureFor: (prompt: string) => Buffer;
  write: (messages: z.infer<typeof Chat>['messages']) => Written;
  /** Whether it streams pictures, which compatible servers may not. */
  streamsPictures: boolean;
  chats: z.infer<typeof Chat>[];
}

/** OpenAI's images and chat, as documented. */
export async function startOpenAi(): Promise<OpenAiDouble> {
  const double = await startDouble(answer);
  const openai: OpenAiDouble = Object.assign(double, {
    baseUrl: `${double.url}/v1`,
    picture: await mediaOf('gpt-image-2', ''),
    pictureFor: () => openai.picture,
    write: () => ({ text: '# A lamp\n\nIt stands by the window.\n' }),
    streamsPictures: true,
    chats: [],
  });

  async function answer(request: VendorRequest): Promise<Reply> {
    if (request.headers.authorization !== `Bearer ${OPENAI_KEY}`) {
      throw refuse(401, 'invalid_api_key', `Incorrect API key provided: ${request.headers.authorization}.`);
    }
    const { method, path } = request;
    if (method === 'GET' && path === '/v1/models') {
      return { body: { object: 'list', data: [...MODELS].map((id) => ({ id, object: 'model' })) } };
    }
    if (method === 'POST' && path === '/v1/images/generations')
      return draw('image_generation', checked(Generation, request.body));
    if (method === 'POST' && path === '/v1/images/edits')
      return draw('image_edit', checked(Edit, await fieldsOf(request)));
    if (method === 'POST' && path === '/v1/chat/completions') return chat(request.body);
    throw refuse(404, 'unknown_url', `Invalid URL (${method} ${path})`);
  }

  function draw(name: string, order: z.infer<typeof Generation> | z.infer<typeof Edit>): Reply {
    if (!MODELS.has(order.model)) throw refuse(404, 'model_not_found', `The model '${order.model}' does not exist.`);
    double.take({ prompt: order.prompt });
    const b64_json = openai.pictureFor(order.prompt).toString('base64');
    const about = { background: 'opaque', output_format: 'png', quality: 'medium', size: '1024x1024', usage: USAGE };
    if (!openai.streamsPictures || !order.stream) return { body: { created: 1789, data: [{ b64_json }], ...about } };
    const partial = { type: `${name}.partial_image`, b64_json: 'aGFsZg==', partial_image_index: 0, ...about };
    return stream([partial, { type: `${name}.completed`, b64_json, ...about }]);
  }

  function chat(body: unknown): Reply {
    const order = checked(Chat, body);
    if (!MODELS.has(order.model)) throw refuse(404, 'model_not_found', `The model '${order.model}' does not exist.`);
    openai.chats.push(order);
    const { id } = double.take({ id: `chatcmpl-${openai.chats.length}`, prompt: promptIn(order) });
    const { text, finish = 'stop', refusal } = openai.write(order.messages);
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      id,
      object: 'chat.completion.chunk',
      created: 1789,
      model: order.model,
      choices: [{ index: 0, delta, finish_reason }],
    });
    const pieces = (text.match(/[\s\S]{1,40}/g) ?? []).map((content) => chunk({ content }));
    const said = refusal === undefined ? pieces : [chunk({ refusal })];
    return stream([chunk({ role: 'assistant', content: '' }), ...said, chunk({}, finish)], true);
  }

  return openai;
}

const MODELS = new Set(['gpt-image-2.5-flare', 'gpt-image-2', 'gpt-image-2-2026-04-21', 'writer-1']);
const USAGE = { total_tokens: 1, input_tokens: 1, output_tokens: 1 };

/** OpenAI's codes with their statuses. */
export const ERROR_CODES: Record<number, string[]> = {
  400: [
    ...['moderation_blocked', 'content_policy_violation', 'content_filter', 'billing_hard_limit_reached'],
    ...['context_length_exceeded', 'empty_image_file', 'image_too_large', 'invalid_base64_image', 'invalid_image'],
    ...['invalid_image_file', 'invalid_image_format', 'invalid_prompt', 'invalid_value', 'missing_required_parameter'],
    ...['string_above_max_length', 'unknown_parameter', 'unsupported_parameter', 'unsupported_value'],
  ],
  401: ['invalid_api_key', 'invalid_organization', 'account_deactivated'],
  403: ['unsupported_country_region_territory'],
  404: ['model_not_found'],
  429: ['rate_limit_exceeded', 'insufficient_quota', 'billing_not_active'],
  500: ['server_error'],
};

export const ERROR_CLASSES: ErrorClasses = {
  CONTENT_POLICY: ['moderation_blocked', 'content_policy_violation', 'content_filter'],
  BALANCE: ['billing_hard_limit_reached', 'insufficient_quota', 'billing_not_active'],
  RATE_LIMITED: ['rate_limit_exceeded'],
};

export const refuse = (status: number, code: string | null, message: string, more: object = {}) =>
  new Refused(refusal(status, code, message, more));

/** A refusal in the vendor's form. */
export const refusal = (status: number, code: string | null, message: string, more: object = {}): Reply => ({
  status,
  body: { error: { message, type: 'invalid_request_error', param: null, code, ...more } },
});

export function stream(events: readonly unknown[], withEnd = false): Reply {
  const lines = events.map((event) => {
    const named = typeof event === 'object' && event !== null && 'type' in event ? `event: ${event.type}\n` : '';
    return `${named}data: ${JSON.stringify(event)}`;
  });
  const body = [...lines, ...(withEnd ? ['data: [DONE]'] : [])].map((line) => `${line}\n\n`).join('');
  return { headers: { 'content-type': 'text/event-stream' }, body };
}

function checked<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === 'unrecognized_keys';
  throw refuse(400, unknown ? 'unknown_parameter' : 'invalid_value', z.prettifyError(parsed.error));
}

const Size = z.string().refine((size) => {
  if (size === 'auto') return true;
  const [width = 0, height = 0] = size.split('x').map(Number);
  const fits = width % 16 === 0 && height % 16 === 0 && width * height <= 3840 * 2160;
  return fits && width / height >= 1 / 3 && width / height <= 3;
});

const common = {
  model: z.string(),
  prompt: z.string().min(1).max(32_000),
  size: Size,
  quality: z.enum(['low', 'medium', 'high', 'auto']),
  background: z.enum(['transparent', 'opaque', 'auto']),
  output_format: z.enum(['png', 'jpeg', 'webp']),
};
const Generation = z.strictObject({
  ...common,
  n: z.number().int().min(1).max(10),
  moderation: z.enum(['auto', 'low']),
  stream: z.boolean().optional(),
});
const Picture = z
  .instanceof(File)
  .refine(({ type, size }) => /^image\/(png|jpeg|webp)$/.test(type) && size < 50 * 1024 * 1024);
const Edit = z.strictObject({
  ...common,
  n: z.coerce.number().int().min(1).max(10),
  stream: z.stringbool().optional(),
  'image[]': z.array(Picture).min(1).max(16),
});

const Part = z.union([
  z.strictObject({ type: z.literal('text'), text: z.string().min(1) }),
  z.strictObject({
    type: z.literal('image_url'),
    image_url: z.strictObject({ url: z.string().regex(/^data:image\/(png|jpeg|webp|gif);base64,/) }),
  }),
  z.strictObject({
    type: z.literal('file'),
    file: z.strictObject({ filename: z.string(), file_data: z.string().regex(/^data:application\/pdf;base64,/) }),
  }),
]);
const Chat = z.strictObject({
  model: z.string(),
  stream: z.literal(true),
  messages: z
    .array(
      z.strictObject({
        role: z.enum(['system', 'user', 'assistant']),
        content: z.union([z.string().min(1), z.array(Part).min(1)]),
      }),
    )
    .min(2),
});

/** Returns the text of the first user message. */
export function promptIn({ messages }: Pick<z.infer<typeof Chat>, 'messages'>): string {
  const content = messages.find(({ role }) => role === 'user')?.content ?? '';
  if (typeof content === 'string') return content;
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}

async function fieldsOf({ bytes, headers }: VendorRequest): Promise<Record<string, unknown>> {
  const type = headers['content-type'] ?? '';
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  const fields: Record<string, unknown> = {};
  for (const key of new Set(form.keys())) fields[key] = key.endsWith('[]') ? form.getAll(key) : form.get(key);
  return fields;
}

const openAiImage: Schema = {
  model: required(string()),
  prompt: required(words(32_000)),
  n: integer(1, 10),
  size: string('auto', '1024x1024', '1536x1024', '1024x1536'),
  quality: string('low', 'medium', 'high', 'xhigh', 'max', 'auto'),
  background: string('transparent', 'opaque', 'auto'),
  output_format: string('png', 'jpeg', 'webp'),
  output_compression: integer(0, 100),
  moderation: string('auto', 'low'),
  safety_identifier: string(),
  stream: boolean,
  partial_images: integer(0, 3),
};
const chunkOf = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'writer-1',
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  usage: null,
});

const eventsIn = (answer: object): unknown[] =>
  'events' in answer && Array.isArray(answer.events) ? answer.events : [];

const PICTURE = Buffer.from('a picture').toString('base64');
const textFor = (prompt: string) => `# ${prompt}\n\nIt stands by the window.\n`;
const outputTypeOf = ({ id }: Order) => (id.startsWith('chatcmpl-') ? 'DOCUMENT' : 'IMAGE');

export const OPENAI = new VendorDouble({
  families: ['gpt-image', 'document'],
  settings: (url) => ({
    OPENAI_API_KEY: OPENAI_KEY,
    OPENAI_BASE_URL: `${url}/v1`,
    DOCUMENT_LLM_API_KEY: OPENAI_KEY,
    DOCUMENT_LLM_BASE_URL: `${url}/v1`,
    DOCUMENT_LLM_MODEL: 'writer-1',
  }),
  async start() {
    const double = await startOpenAi();
    double.pictureFor = (prompt) => marked(double.picture, prompt);
    double.write = (messages) => ({ text: textFor(promptIn({ messages })) });
    return {
      double,
      outputTypeOf,
      mediaFor(order, outputModel) {
        if (outputTypeOf(order) === 'IMAGE') return double.pictureFor(order.prompt);
        // The worker renders the PDF, with the current time in it.
        return outputModel === 'markdown' ? Buffer.from(textFor(order.prompt)) : null;
      },
    };
  },
  checks: { document: 'it has writer-1', 'gpt-image': 'it has gpt-image-2.5-flare, gpt-image-2' },
  pages: {
    '/v1/images/generations': openAiImage,
  },
  resultAnswers: [
    {
      name: 'gpt-image, bit by bit',
      model: 'gpt-image-2',
      answer: {
        events: [
          { type: 'image_generation.partial_image', b64_json: 'aGFsZg==', partial_image_index: 0 },
          { type: 'image_generation.completed', b64_json: PICTURE, size: '1024x1024', usage: { total_tokens: 1 } },
        ],
      },
      reply: (answer) => stream(eventsIn(answer)),
      wanted: 'a picture',
      needed: ['events.1.b64_json', 'events.0.type', 'events.0.partial_image_index'],
    },
    {
      name: 'gpt-image, at once',
      model: 'gpt-image-2',
      answer: {
        created: 1,
        data: [{ b64_json: PICTURE, revised_prompt: 'A lamp' }, { b64_json: PICTURE }],
        usage: null,
      },
      reply: (body) => ({ body }),
      wanted: 'a picture',
      needed: ['data'],
    },
    {
      name: 'a language model',
      model: 'markdown',
      answer: {
        events: [
          chunkOf({ role: 'assistant', content: '' }),
          chunkOf({ content: '# A lamp' }),
          chunkOf({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
          // At the output limit, so that the answer is stored unchanged.
          chunkOf({}, 'length'),
          { ...chunkOf({}), choices: [], usage: { total_tokens: 3 } },
        ],
      },
      reply: (answer) => stream(eventsIn(answer), true),
      wanted: '# A lamp',
      needed: [
        ...['events.0.choices.0.delta.content', 'events.1.choices.0.delta.content', 'events.3.choices.0.finish_reason'],
        // Another finish reason or part type has another meaning.
        ...[0, 1, 2].map((index) => `events.${index}.choices.0.finish_reason`),
        'events.2.choices.0.delta.content',
      ],
    },
  ],
});
