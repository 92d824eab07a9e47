import { z } from 'zod';
import { EDITORS } from './access.ts';
import { created, room } from './endpoint.ts';
import { GenerationError } from './generation-error.ts';
import { groupBy } from './group-by.ts';
import { FileId, FolderId, ReferenceId, reference, references } from './ids.ts';
import { limitBreaches, MODELS, OutputType, Provider, VideoConfigs, VideoSettings } from './models.ts';
import { text } from './text.ts';
import { Timestamp } from './time.ts';

export const GENERATION_STATUSES = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELED'] as const;
export const GenerationStatus = z.enum(GENERATION_STATUSES);
export type GenerationStatus = z.infer<typeof GenerationStatus>;

/** The statuses of a generation that has not ended. */
export const OPEN_GENERATION_STATUSES: readonly GenerationStatus[] = ['QUEUED', 'RUNNING'];

/** What runs the steps of a generation. */
export const Engine = z.enum(['embedded', 'temporal']);
export type Engine = z.infer<typeof Engine>;

/** A capable worker, a free slot of the workspace, a free slot of the model's family, or the operator who has paused the family. */
export const WaitingFor = z.enum(['WORKER', 'SLOT', 'FAMILY_CAP', 'PAUSED']);
export type WaitingFor = z.infer<typeof WaitingFor>;

export const Generation = z
  .object({
    status: GenerationStatus,
    /** Why the generation is still queued; null if nothing blocks it, or once it runs or has ended. */
    waitingFor: WaitingFor.nullable(),
    outputType: OutputType,
    outputModel: z.string(),
    /** Null to restricted reviewers. */
    prompt: z.string().nullable(),
    /** The effective settings; null for models without settings. */
    configs: VideoSettings.nullable(),
    /** Empty to restricted reviewers. */
    attachments: z.array(z.object({ id: ReferenceId })),
    progress: z.number().min(0).max(1),
    /** Null until a provider is chosen. */
    provider: Provider.nullable(),
    /** With a generic message for restricted reviewers. */
    error: GenerationError.nullable(),
    /** Empty to restricted reviewers. */
    warnings: z.array(z.string()),
    queuedAt: Timestamp,
    startedAt: Timestamp.nullable(),
    finishedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Generation' });
export type Generation = z.infer<typeof Generation>;

export const GenerationStep = z.object({
  name: z.string(),
  attempt: z.number().int(),
  startedAt: Timestamp,
  finishedAt: Timestamp.nullable(),
  /** Null while the step runs. */
  outcome: z.enum(['SUCCEEDED', 'RETRIED', 'FAILED', 'CANCELED']).nullable(),
  message: z.string().nullable(),
});
export type GenerationStep = z.infer<typeof GenerationStep>;

/** A generation with its timeline. */
export const GenerationDetails = Generation.extend({
  prompt: z.string(),
  steps: z.array(GenerationStep),
  providerJobId: z.string().nullable(),
  /** Null until an engine has the task. */
  engine: Engine.nullable(),
  /** The workflow's page in the UI of the engine; null if there is none. */
  workflowUrl: z.string().nullable(),
});
export type GenerationDetails = z.infer<typeof GenerationDetails>;

/** Returns the distinct ids of the tokens `<#FX...>` and `<#GA...>` in a prompt. */
export function promptReferences(prompt: string): string[] {
  const named = Array.from(prompt.matchAll(/<#([^<>]*)>/g), (token) => token[1] ?? '');
  return [...new Set(named)].filter((id) => ReferenceId.safeParse(id).success);
}

/** The rules of `limitBreaches` as JSON Schema, with one entry for all models that share their limits. */
const MODEL_LIMITS = Array.from(
  groupBy(MODELS, ({ outputType, video }) => JSON.stringify([outputType, video])).values(),
  (models) => {
    const video = models[0]?.video ?? null;
    const configs = video && {
      ...(!video.audio && { generateAudio: { enum: [false] } }),
      resolution: { enum: video.resolutions },
      durationSeconds: { minimum: video.seconds.min, maximum: video.seconds.max },
      aspectRatio: { enum: video.ratios },
    };
    return {
      properties: {
        outputType: { enum: [...new Set(models.map(({ outputType }) => outputType))] },
        outputModel: { enum: models.map(({ id }) => id) },
        ...(configs !== null && { configs: { properties: configs } }),
      },
      ...(configs === null && { not: { required: ['configs'] } }),
    };
  },
);

export const GenerateRequest = z
  .strictObject({
    outputType: OutputType,
    outputModel: z
      .string()
      .max(100)
      .meta({
        enum: MODELS.map((model) => model.id),
        description: 'The id of a model with that output type; List Models returns them.',
      }),
    prompt: text({ min: 1, max: 5000 }).describe('What to generate. `<#id>` refers to the attachment with that id.'),
    folder: reference(FolderId).nullable().describe('The folder of the new file; null is the root of the project.'),
    attachments: references(ReferenceId, { max: 5 }).describe(
      'Reference files: files of the project, or generation attachments.',
    ),
    configs: VideoConfigs.optional().describe('Only for videos. Omitted settings use the defaults of the model.'),
  })
  .check((context) => {
    const { value, issues } = context;
    const refuse = (path: readonly string[], code: string, message: string) =>
      issues.push({ code: 'custom', params: { code }, message, path: [...path], input: value });
    for (const breach of limitBreaches(value)) refuse(breach.path, breach.code, breach.message);
    const attached = new Set(value.attachments.map((attachment) => attachment.id));
    for (const id of promptReferences(value.prompt)) {
      if (!attached.has(id)) refuse(['prompt'], 'NOT_ATTACHED', `The prompt names ${id}, which is not in attachments.`);
    }
  })
  // Inside `allOf`, because generators ignore the fields of an object with an `anyOf`.
  .meta({ allOf: [{ anyOf: MODEL_LIMITS }] });
export type GenerateRequest = z.infer<typeof GenerateRequest>;

export const generation = room({
  generate: {
    method: 'POST',
    path: '/api/projects/:id/files/upload.generate',
    summary: 'Generate a file with an AI model',
    description:
      'Returns the id of a new file at once, before it is generated. Read it with Get File, whose `wait` holds the answer until it is done. A token `<#id>` in the prompt refers to an attachment.',
    body: GenerateRequest,
    responses: { 202: created(FileId) },
    metadata: {
      events: ['file.created', 'file.generation.queued'],
      tool: 'generate_file',
      tier: 'tier-2',
      scopes: ['ai:generate'],
      subject: 'project',
      roles: EDITORS,
      location: '/api/files/:id',
      problems: ['REFERENCE_NOT_FOUND', 'ATTACHMENT_NOT_READY', 'MODEL_NOT_AVAILABLE', 'GENERATION_QUEUE_FULL'],
    },
  },
});
