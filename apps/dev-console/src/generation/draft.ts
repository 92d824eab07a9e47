import {
  type FieldError,
  fieldErrors,
  GenerateRequest,
  type ModelRecord,
  type OutputType,
  type VideoConfigs,
} from '@review/contract';

/** What the form holds, before it is a request. */
export interface Draft {
  type: OutputType;
  model: string;
  prompt: string;
  folder: string | null;
  attachments: readonly string[];
  configs: VideoConfigs;
}

/** The settings that the model takes: what was asked as far as it fits, the model's defaults for the rest. */
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

/** What the service would refuse, found by the contract itself. */
export function mistakesOf(request: GenerateRequest): FieldError[] {
  const checked = GenerateRequest.safeParse(request);
  return checked.success ? [] : [...fieldErrors(checked.error.issues, request)];
}
