import { z } from 'zod';
import { data, room } from './endpoint.ts';

export const OUTPUT_TYPES = ['DOCUMENT', 'IMAGE', 'VIDEO', '3D'] as const;
export const OutputType = z.enum(OUTPUT_TYPES).describe('A kind of file.').meta({ id: 'OutputType' });
export type OutputType = z.infer<typeof OutputType>;

/** The vendor itself, or the sandbox instead of it. */
export const Provider = z.enum(['live', 'sandbox']);
export type Provider = z.infer<typeof Provider>;

export const FAMILIES = [
  'document',
  'gpt-image',
  'gemini-image',
  'seedance',
  'kling',
  'minimax',
  'veo',
  'meshy',
  'hunyuan3d',
] as const;
export const Family = z.enum(FAMILIES);
export type Family = z.infer<typeof Family>;

/** Returns a record with the value of every family. */
export const perFamily = <T>(of: (family: Family) => T): Record<Family, T> =>
  z.record(Family, z.custom<T>()).parse(Object.fromEntries(FAMILIES.map((family) => [family, of(family)])));

/** The settings that a video model supports. */
export interface VideoLimits {
  resolutions: readonly string[];
  seconds: { min: number; max: number };
  ratios: readonly string[];
  audio: boolean;
}

/** The vendor's limits where they are stricter than those of the API; null otherwise. */
export interface Caps {
  promptCharacters: number | null;
  attachments: number | null;
}

export interface Model {
  id: string;
  name: string;
  outputType: OutputType;
  family: Family;
  caps: Caps;
  video: VideoLimits | null;
}

const WIDE_RATIOS = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];
const KLING: VideoLimits = {
  resolutions: ['720p', '1080p'],
  seconds: { min: 3, max: 15 },
  ratios: ['16:9', '9:16', '1:1'],
  audio: true,
};

const model = (
  id: string,
  name: string,
  outputType: OutputType,
  family: Family,
  limits: Partial<Caps> & { video?: VideoLimits } = {},
): Model => ({
  id,
  name,
  outputType,
  family,
  caps: { promptCharacters: limits.promptCharacters ?? null, attachments: limits.attachments ?? null },
  video: limits.video ?? null,
});

/** Every model. Validation, List Models, the worker, the tools and the console's form read this table. */
export const MODELS: readonly Model[] = [
  model('pdf', 'PDF document', 'DOCUMENT', 'document'),
  model('markdown', 'Markdown document', 'DOCUMENT', 'document'),
  model('gpt-image-2.5-flare', 'GPT Image 2.5 Flare', 'IMAGE', 'gpt-image'),
  model('gpt-image-2', 'GPT Image 2', 'IMAGE', 'gpt-image'),
  model('gemini-3-pro-image', 'Gemini 3 Pro Image', 'IMAGE', 'gemini-image'),
  model('gemini-3.1-flash-image', 'Gemini 3.1 Flash Image', 'IMAGE', 'gemini-image'),
  model('gemini-3.1-flash-lite-image', 'Gemini 3.1 Flash Lite Image', 'IMAGE', 'gemini-image'),
  model('seedance-2.5', 'Seedance 2.5', 'VIDEO', 'seedance', {
    video: { resolutions: ['480p', '720p', '1080p'], seconds: { min: 4, max: 30 }, ratios: WIDE_RATIOS, audio: true },
  }),
  model('seedance-2.0', 'Seedance 2.0', 'VIDEO', 'seedance', {
    video: {
      resolutions: ['480p', '720p', '1080p', '4k'],
      seconds: { min: 4, max: 15 },
      ratios: WIDE_RATIOS,
      audio: true,
    },
  }),
  model('seedance-2.0-fast', 'Seedance 2.0 Fast', 'VIDEO', 'seedance', {
    video: { resolutions: ['480p', '720p'], seconds: { min: 4, max: 15 }, ratios: WIDE_RATIOS, audio: true },
  }),
  model('seedance-2.0-mini', 'Seedance 2.0 Mini', 'VIDEO', 'seedance', {
    video: { resolutions: ['480p', '720p'], seconds: { min: 4, max: 15 }, ratios: WIDE_RATIOS, audio: true },
  }),
  model('kling-3.0-omni', 'Kling 3.0 Omni', 'VIDEO', 'kling', { promptCharacters: 3072, video: KLING }),
  model('kling-3.0', 'Kling 3.0', 'VIDEO', 'kling', { promptCharacters: 3072, attachments: 2, video: KLING }),
  model('kling-3.0-turbo', 'Kling 3.0 Turbo', 'VIDEO', 'kling', {
    promptCharacters: 3072,
    attachments: 1,
    video: KLING,
  }),
  model('minimax-h3-max', 'MiniMax H3 Max', 'VIDEO', 'minimax', {
    video: { resolutions: ['480p', '768p', '1080p'], seconds: { min: 5, max: 15 }, ratios: WIDE_RATIOS, audio: false },
  }),
  model('minimax-h3', 'MiniMax H3', 'VIDEO', 'minimax', {
    video: { resolutions: ['768p', '2k'], seconds: { min: 5, max: 15 }, ratios: WIDE_RATIOS, audio: false },
  }),
  model('veo-3.1-generate-preview', 'Veo 3.1', 'VIDEO', 'veo', {
    attachments: 3,
    video: { resolutions: ['720p', '1080p', '4k'], seconds: { min: 8, max: 8 }, ratios: ['16:9', '9:16'], audio: true },
  }),
  model('veo-3.1-lite-generate-preview', 'Veo 3.1 Lite', 'VIDEO', 'veo', {
    attachments: 2,
    video: { resolutions: ['720p', '1080p'], seconds: { min: 8, max: 8 }, ratios: ['16:9', '9:16'], audio: true },
  }),
  model('meshy-7', 'Meshy 7', '3D', 'meshy', { promptCharacters: 800, attachments: 4 }),
  model('hunyuan3d-3.1', 'Hunyuan3D 3.1', '3D', 'hunyuan3d', { promptCharacters: 1024, attachments: 1 }),
];

const BY_ID = new Map(MODELS.map((entry) => [entry.id, entry]));
export const findModel = (id: string): Model | undefined => BY_ID.get(id);

const seconds = MODELS.flatMap((entry) => (entry.video === null ? [] : [entry.video.seconds]));

export const VideoConfigs = z.strictObject({
  generateAudio: z.boolean().optional().describe('Whether the video has sound.'),
  resolution: z.string().max(20).optional().describe('A resolution that the model supports, such as 720p.'),
  durationSeconds: z
    .number()
    .int()
    // The widest range of all models; `limitBreaches` checks the range of the chosen one.
    .meta({
      minimum: Math.min(...seconds.map(({ min }) => min)),
      maximum: Math.max(...seconds.map(({ max }) => max)),
    })
    .optional()
    .describe('A duration that the model supports, in seconds.'),
  aspectRatio: z.string().max(20).optional().describe('An aspect ratio that the model supports, such as 16:9.'),
});
export type VideoConfigs = z.infer<typeof VideoConfigs>;

export interface LimitBreach {
  path: readonly string[];
  code: string;
  message: string;
}

/** Checks the output model and its video settings. The API calls it before the 202, the worker before a paid call. */
export function limitBreaches(asked: {
  outputType: string;
  outputModel: string;
  configs?: VideoConfigs | null | undefined;
}): LimitBreach[] {
  const chosen = findModel(asked.outputModel);
  if (chosen?.outputType !== asked.outputType) {
    const fitting = MODELS.filter((entry) => entry.outputType === asked.outputType).map((entry) => entry.id);
    return [
      {
        path: ['outputModel'],
        code: 'INVALID_MODEL',
        message: `For ${asked.outputType}, one of ${fitting.join(', ')}.`,
      },
    ];
  }
  if (asked.configs === undefined || asked.configs === null) return [];
  if (chosen.video === null) {
    return [
      {
        path: ['configs'],
        code: 'CONFIGS_NOT_ALLOWED',
        message: `Only video models take configs; ${chosen.id} does not.`,
      },
    ];
  }
  return configBreaches(chosen.id, chosen.video, asked.configs);
}

function configBreaches(id: string, limits: VideoLimits, configs: VideoConfigs): LimitBreach[] {
  const breaches: LimitBreach[] = [];
  const refuse = (field: keyof VideoConfigs, message: string) =>
    breaches.push({ path: ['configs', field], code: 'OUTSIDE_MODEL_LIMITS', message });
  const { generateAudio, resolution, durationSeconds, aspectRatio } = configs;
  const { min, max } = limits.seconds;
  if (generateAudio === true && !limits.audio) refuse('generateAudio', `${id} generates no audio.`);
  if (resolution !== undefined && !limits.resolutions.includes(resolution)) {
    refuse('resolution', `${id} takes ${limits.resolutions.join(', ')}.`);
  }
  if (durationSeconds !== undefined && (durationSeconds < min || durationSeconds > max)) {
    refuse('durationSeconds', min === max ? `${id} takes ${min} seconds.` : `${id} takes ${min} to ${max} seconds.`);
  }
  if (aspectRatio !== undefined && !limits.ratios.includes(aspectRatio)) {
    refuse('aspectRatio', `${id} takes ${limits.ratios.join(', ')}.`);
  }
  return breaches;
}

/** Checks the vendor's stricter limits. */
export function capBreaches(
  { id, caps }: Pick<Model, 'id' | 'caps'>,
  { prompt, attachments }: { prompt: string; attachments: readonly unknown[] },
): LimitBreach[] {
  const breaches: LimitBreach[] = [];
  const refuse = (field: string, message: string) =>
    breaches.push({ path: [field], code: 'OUTSIDE_MODEL_LIMITS', message });
  const characters = Array.from(prompt).length;
  if (caps.promptCharacters !== null && characters > caps.promptCharacters) {
    refuse('prompt', `${id} takes prompts of at most ${caps.promptCharacters} characters; this one has ${characters}.`);
  }
  if (caps.attachments !== null && attachments.length > caps.attachments) {
    const max = `${caps.attachments} attachment${caps.attachments === 1 ? '' : 's'}`;
    refuse('attachments', `${id} takes at most ${max}; there are ${attachments.length}.`);
  }
  return breaches;
}

export const VideoSettings = z
  .object({
    generateAudio: z.boolean(),
    resolution: z.string(),
    durationSeconds: z.number().int(),
    aspectRatio: z.string(),
  })
  .meta({ id: 'VideoSettings' });
export type VideoSettings = z.infer<typeof VideoSettings>;

/** The defaults of omitted settings, so that the vendor's own defaults never apply. */
export function defaultSettings(limits: VideoLimits): VideoSettings {
  const preferred = ['720p', '768p'].find((resolution) => limits.resolutions.includes(resolution));
  return {
    generateAudio: limits.audio,
    resolution: preferred ?? limits.resolutions[0] ?? '720p',
    durationSeconds: Math.min(Math.max(5, limits.seconds.min), limits.seconds.max),
    aspectRatio: '16:9',
  };
}

/** Returns the effective settings: the requested ones, completed by the model's defaults. */
export const settingsInEffect = (limits: VideoLimits, asked: VideoConfigs | null | undefined): VideoSettings => {
  const defaults = defaultSettings(limits);
  return {
    generateAudio: asked?.generateAudio ?? defaults.generateAudio,
    resolution: asked?.resolution ?? defaults.resolution,
    durationSeconds: asked?.durationSeconds ?? defaults.durationSeconds,
    aspectRatio: asked?.aspectRatio ?? defaults.aspectRatio,
  };
};

const SHORT_SIDES = new Map([
  ['480p', 480],
  ['720p', 720],
  ['768p', 768],
  ['1080p', 1080],
  ['2k', 1440],
  ['4k', 2160],
]);
const MAX_SIDE_OF_4K = 3840;

/** Returns the pixels of a resolution and an aspect ratio. The short side is the resolution's number; both sides are even. */
export function pixelsOf(resolution: string, aspectRatio: string): { width: number; height: number } {
  const number = SHORT_SIDES.get(resolution);
  const [across = 0, down = 0] = aspectRatio.split(':').map(Number);
  if (number === undefined || !(across > 0 && down > 0)) {
    throw new RangeError(`Unknown resolution ${resolution} or aspect ratio ${aspectRatio}.`);
  }
  const even = (length: number) => 2 * Math.round(length / 2);
  const [less, more] = across < down ? [across, down] : [down, across];
  const longest = resolution === '4k' ? MAX_SIDE_OF_4K : Number.POSITIVE_INFINITY;
  const asked = even((number * more) / less);
  const [short, long] = asked > longest ? [even((longest * less) / more), longest] : [number, asked];
  return across < down ? { width: short, height: long } : { width: long, height: short };
}

export const ModelRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    outputType: OutputType,
    family: Family,
    /** Whether a worker has the provider's key; otherwise the sandbox makes the files. */
    available: z.boolean(),
    provider: Provider,
    caps: z.object({ promptCharacters: z.number().int().nullable(), attachments: z.number().int().nullable() }),
    configs: z
      .object({
        generateAudio: z.object({ supported: z.boolean() }),
        resolution: z.object({ values: z.array(z.string()) }),
        durationSeconds: z.object({ min: z.number().int(), max: z.number().int() }),
        aspectRatio: z.object({ values: z.array(z.string()) }),
      })
      .nullable(),
    defaults: VideoSettings.nullable(),
  })
  .meta({ id: 'Model' });
export type ModelRecord = z.infer<typeof ModelRecord>;

export const models = room({
  list: {
    method: 'GET',
    path: '/api/models',
    summary: 'List the models with their limits and defaults',
    query: z.strictObject({ outputType: OutputType.optional().describe('Only models that make this kind of file.') }),
    responses: { 200: data(z.array(ModelRecord)) },
    metadata: { tool: 'list_models', tier: 'default', scopes: ['ai:generate'], subject: null, roles: [] },
  },
});

interface Format {
  extension: string;
  mimeType: string;
  accepts: RegExp;
}

const FORMATS: Record<OutputType, Format> = {
  DOCUMENT: { extension: 'pdf', mimeType: 'application/pdf', accepts: /^application\/pdf$/ },
  IMAGE: { extension: 'png', mimeType: 'image/png', accepts: /^image\/(png|jpeg|webp)$/ },
  VIDEO: { extension: 'mp4', mimeType: 'video/mp4', accepts: /^video\/mp4$/ },
  '3D': { extension: 'glb', mimeType: 'model/gltf-binary', accepts: /^model\/gltf-binary$/ },
};
const MARKDOWN: Format = { extension: 'md', mimeType: 'text/markdown', accepts: /^text\/(plain|markdown)$/ };

/** The file extension and the allowed content types of a model's result. */
export const formatOf = ({ id, outputType }: Pick<Model, 'id' | 'outputType'>): Format =>
  id === 'markdown' ? MARKDOWN : FORMATS[outputType];
