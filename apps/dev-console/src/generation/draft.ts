import {
  type FieldError,
  fieldErrors,
  GenerateRequest,
  type ModelRecord,
  type OutputType,
  type VideoConfigs,
} from '@review/contract';
import type { Run } from './runs-query.ts';

/** The state of the form. */
export interface Draft {
  type: OutputType;
  model: string;
  prompt: string;
  folder: string | null;
  attachments: readonly string[];
  configs: VideoConfigs;
}

/** The inputs of a run, for the folder of the form. */
export const draftOf = ({ generation }: Run, folder: string | null): Draft => ({
  type: generation.outputType,
  model: generation.outputModel,
  prompt: generation.prompt ?? '',
  folder,
  attachments: generation.attachments.map(({ id }) => id),
  configs: generation.configs ?? {},
});

/** The settings for the model: requested values where the model allows them, its defaults elsewhere. */
export function fittingConfigs({ configs, defaults }: ModelRecord, asked: VideoConfigs): VideoConfigs {
  if (configs === null || defaults === null) return {};
  const { durationSeconds: seconds } = asked;
  const { min, max } = configs.durationSeconds;
  const among = (value: string | undefined, values: readonly string[], fallback: string) =>
    value !== undefined && values.includes(value) ? value : fallback;
  return {
    resolution: among(asked.resolution, configs.resolution.values, defaults.resolution),
    durationSeconds: seconds !== undefined && seconds >= min && seconds <= max ? seconds : defaults.durationSeconds,
    aspectRatio: among(asked.aspectRatio, configs.aspectRatio.values, defaults.aspectRatio),
    generateAudio: configs.generateAudio.supported && (asked.generateAudio ?? defaults.generateAudio),
  };
}

export function requestOf(draft: Draft, model: ModelRecord | undefined): GenerateRequest {
  return {
    outputType: draft.type,
    outputModel: draft.model,
    prompt: draft.prompt,
    folder: draft.folder === null ? null : { id: draft.folder },
    attachments: draft.attachments.map((id) => ({ id })),
    ...(model?.configs && { configs: fittingConfigs(model, draft.configs) }),
  };
}

/** Validation errors of the request, found with the contract's own schema. */
export function validationErrorsOf(request: GenerateRequest): FieldError[] {
  const checked = GenerateRequest.safeParse(request);
  return checked.success ? [] : [...fieldErrors(checked.error.issues, request)];
}
