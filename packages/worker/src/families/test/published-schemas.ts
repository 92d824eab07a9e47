/** A field of a request, as the vendor documents it. */
export interface Field {
  type: 'string' | 'integer' | 'boolean' | 'object' | 'list';
  required?: true;
  values?: readonly unknown[];
  /** The bounds of a number, or of the length of a text or a list. */
  min?: number;
  max?: number;
  fields?: Schema;
  items?: Field;
}

export type Schema = Record<string, Field>;

/** Returns the faults of a request against the vendor's documentation; undocumented fields are faults. */
export function faultsIn(body: unknown, schema: Schema, at = ''): string[] {
  if (!isObject(body)) return [`${at || 'the body'} is no object`];
  const unknown = Object.keys(body).filter((key) => !Object.hasOwn(schema, key));
  return [
    ...unknown.map((key) => `${at}${key} is unknown`),
    ...Object.entries(schema).flatMap(([key, field]) => faultsInField(body[key], field, at + key)),
  ];
}

function faultsInField(value: unknown, field: Field, at: string): string[] {
  if (value === undefined) return field.required ? [`${at} is missing`] : [];
  if (!hasType(value, field.type)) return [`${at} is no ${field.type}`];
  if (field.values !== undefined && !field.values.includes(value)) return [`${at} is ${JSON.stringify(value)}`];
  const size = typeof value === 'number' ? value : typeof value === 'string' || Array.isArray(value) ? value.length : 0;
  if (size < (field.min ?? size) || size > (field.max ?? size)) return [`${at} is ${size}`];
  const { fields, items } = field;
  if (fields !== undefined) return faultsIn(value, fields, `${at}.`);
  if (items === undefined || !Array.isArray(value)) return [];
  return value.flatMap((item, index) => faultsInField(item, items, `${at}.${index}`));
}

function hasType(value: unknown, type: Field['type']): boolean {
  if (type === 'list') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const string = (...values: string[]): Field => ({ type: 'string', ...(values.length > 0 && { values }) });
const integer = (min: number, max: number): Field => ({ type: 'integer', min, max });
const boolean: Field = { type: 'boolean' };
const object = (fields: Schema): Field => ({ type: 'object', fields });
const list = (items: Field, limits: Pick<Field, 'min' | 'max'> = {}): Field => ({ type: 'list', items, ...limits });
const required = (field: Field): Field => ({ ...field, required: true });
const words = (max: number): Field => ({ type: 'string', min: 1, max });

const WIDE = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16', 'adaptive'];
const item = (...kinds: string[]): Field =>
  object({
    type: required(string('text', ...kinds.map((kind) => `${kind}_url`))),
    text: words(7000),
    ...Object.fromEntries(kinds.map((kind) => [`${kind}_url`, object({ url: required(string()) })])),
    role: string('first_frame', 'last_frame', ...kinds.map((kind) => `reference_${kind}`)),
  });

const ark: Schema = {
  model: required(string()),
  content: required(list(item('image', 'video', 'audio'), { min: 1 })),
  resolution: string('480p', '720p', '1080p', '4k'),
  ratio: string(...WIDE),
  duration: integer(-1, 30),
  generate_audio: boolean,
  watermark: boolean,
  execution_expires_after: integer(3600, 259_200),
  callback_url: string(),
  safety_identifier: string(),
  seed: integer(-1, 2 ** 32 - 1),
  return_last_frame: boolean,
  service_tier: string('default', 'flex'),
  priority: integer(0, 9),
  omni_reference_task_type: string('auto', 'reference', 'edit', 'extend'),
  output_format: string('mp4', 'mov'),
  tools: list(object({ type: required(string('web_search')) })),
};

const klingOptions = object({
  external_task_id: string(),
  callback_url: string(),
  watermark_info: object({ enabled: required(boolean) }),
});
const klingSettings = (more: Schema): Field =>
  object({ resolution: string('720p', '1080p', '4k'), duration: integer(3, 15), ...more });
const [ratio, shots] = [{ aspect_ratio: string('16:9', '9:16', '1:1') }, { multi_shot: boolean }];
const klingContents = (...types: string[]): Field =>
  required(
    list(object({ type: required(string('prompt', ...types)), text: words(3072), url: string(), id: string() }), {
      min: 1,
    }),
  );
const klingText = (settings: Schema): Schema => ({
  prompt: required(words(3072)),
  settings: klingSettings(settings),
  options: klingOptions,
});
const klingImage = (contents: Field, settings: Schema): Schema => ({
  contents,
  settings: klingSettings(settings),
  options: klingOptions,
});

/** The international API; the Chinese one also has `aigc_watermark`. */
const minimax = (resolutions: string[], least: number, more: Schema = {}): Schema => ({
  model: required(string('MiniMax-H3', 'MiniMax-H3-Max')),
  content: required(list(item('image', 'video', 'audio'), { min: 1 })),
  resolution: required(string(...resolutions)),
  duration: required(integer(least, 15)),
  ratio: string(...WIDE),
  callback_url: string(),
  ...more,
});

const fal = (more: Schema = {}): Schema => ({
  prompt: required(words(50_000)),
  duration: integer(5, 15),
  resolution: string('480P', '768P', '1080P'),
  aspect_ratio: string(...WIDE.slice(0, -1)),
  prompt_expansion_mode: string('disabled', 'fast', 'balanced', 'quality'),
  enable_safety_checker: boolean,
  ...more,
});

const formats = list(string('glb', 'fbx', 'obj', 'usdz', 'stl', '3mf'));
const meshyShape: Schema = {
  target_formats: formats,
  model_type: string('standard', 'smart-topology'),
  topology: string('quad', 'triangle'),
  target_polycount: integer(100, 300_000),
  should_remesh: boolean,
  decimation_mode: integer(1, 4),
  pose_mode: string('', 'a-pose', 't-pose'),
  auto_size: boolean,
  origin_at: string('bottom', 'center'),
  alpha_thumbnail: boolean,
  moderation: boolean,
};
const meshySurface: Schema = {
  enable_pbr: boolean,
  texture_prompt: words(800),
  texture_resolution: string('2k', '4k', '8k'),
};
const meshyImage = (pictures: Schema): Schema => ({
  ...pictures,
  ...meshyShape,
  ...meshySurface,
  ai_model: string('meshy-6', 'meshy-7', 'meshy-7.1', 'latest'),
  should_texture: boolean,
  ultra_mode: boolean,
});

const views = ['left', 'right', 'back', 'top', 'bottom', 'left_front', 'right_front'];
const tencent: Schema = {
  Prompt: words(1024),
  ImageBase64: string(),
  ImageUrl: string(),
  MultiViewImages: list(
    object({ ViewType: required(string(...views)), ViewImageBase64: string(), ViewImageUrl: string() }),
  ),
  EnablePBR: boolean,
  FaceCount: integer(3000, 1_500_000),
  GenerateType: string('Normal', 'Geometry'),
  ResultFormat: string('STL', 'USDZ', 'FBX'),
};

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
const frame = object({ bytesBase64Encoded: required(string()), mimeType: required(string('image/png', 'image/jpeg')) });

/** The documented fields of each path, copied from the vendors' pages, not from the adapters. */
export const PUBLISHED: Record<string, Schema> = {
  '/api/v3/contents/generations/tasks': ark,
  '/text-to-video/kling-3.0-turbo': klingText(ratio),
  '/text-to-video/kling-3.0': klingText({ ...ratio, ...shots, audio: string('native', 'off') }),
  '/image-to-video/kling-3.0-turbo': klingImage(klingContents('first_frame'), {}),
  '/image-to-video/kling-3.0': klingImage(klingContents('first_frame', 'last_frame'), {
    ...shots,
    audio: string('native', 'off'),
  }),
  '/omni-video/kling-3.0-omni': klingImage(klingContents('refer_image', 'first_frame', 'last_frame', 'refer_video'), {
    ...ratio,
    ...shots,
    audio: string('native', 'off', 'original'),
  }),
  '/v2/video_generation MiniMax-H3': minimax(['768P', '2K'], 4),
  '/v2/video_generation MiniMax-H3-Max': minimax(['480P', '768P'], 5, {
    extra: object({ prompt_expansion_mode: string('disabled', 'balanced', 'quality') }),
  }),
  '/minimax/h3-max/text-to-video': fal(),
  '/minimax/h3-max/reference-to-video': fal({ reference_image_urls: list(string(), { max: 9 }) }),
  '/openapi/v2/text-to-3d preview': {
    mode: required(string('preview')),
    prompt: required(words(800)),
    ai_model: string('meshy-6', 'meshy-7.1', 'latest'),
    ...meshyShape,
  },
  '/openapi/v2/text-to-3d refine': {
    mode: required(string('refine')),
    preview_task_id: required(string()),
    target_formats: formats,
    ...meshySurface,
  },
  '/openapi/v1/image-to-3d': meshyImage({ image_url: required(string()) }),
  '/openapi/v1/multi-image-to-3d': meshyImage({ image_urls: required(list(string(), { min: 1, max: 4 })) }),
  SubmitHunyuanTo3DProJob: { ...tencent, Model: string('3.0', '3.1') },
  'SubmitHunyuanTo3DProJob of ai3d.intl': tencent,
  '/v1/api/3d/submit': {
    model: required(string('hy-3d-3.0', 'hy-3d-3.1')),
    prompt: words(1024),
    image_base64: string(),
    image_url: string(),
    multi_view_images: list(object({})),
    generate_type: string('Normal', 'Geometry'),
    enable_pbr: boolean,
    face_count: integer(3000, 1_500_000),
    result_format: string('STL', 'USDZ', 'FBX'),
  },
  '/v1/images/generations': openAiImage,
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
          referenceImages: list(object({ image: required(frame), referenceType: required(string('asset', 'ASSET')) }), {
            max: 3,
          }),
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
};
