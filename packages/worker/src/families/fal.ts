import { z } from 'zod';
import { StepError, type StepErrorType } from '../step-error.ts';
import type { AdapterContext } from './adapter-context.ts';
import { address, entries, fields, id, text, word } from './answer-fields.ts';
import { TOGETHER } from './content-task.ts';
import type { Call, Family, JobRef } from './family.ts';
import { jobState, type StatusWords } from './job-state.ts';
import { dataUri, type PictureLimits, readPictures, replaceReferences } from './references.ts';
import { asFinalType, type Refusal, toStepError } from './refusal.ts';
import { downloadFrom } from './result.ts';
import { type Answer, callApi, refusalByStatus, type VendorApi } from './vendor-api.ts';
import { settingsOf } from './video-settings.ts';

export interface FalAccount {
  apiKey: string;
  queueUrl: string;
}

const APP = '/minimax/h3-max';
const POLL_MS = 5000;
const BUSY_MS = 10_000;

const PICTURES: PictureLimits = {
  types: ['image/jpeg', 'image/png', 'image/webp'],
  maxBytes: 30 * 1024 * 1024,
  side: { min: 256, max: 5760 },
  ratio: { min: 0.4, max: 2.5 },
  ...TOGETHER,
};

const Created = z.object({ request_id: id, status_url: address, response_url: address, cancel_url: address });
const Status = z.object({ status: word, error: text, error_type: text });
const Result = z.object({ video: fields({ url: address }) });
const WORDS: StatusWords = { running: ['IN_QUEUE', 'IN_PROGRESS'], succeeded: ['COMPLETED'], failed: [] };

/** The URLs of a request, as fal returned them. */
const Urls = z.object({ status: address, response: address, cancel: address });
type Action = keyof z.infer<typeof Urls>;

/** MiniMax H3 Max in fal's queue. fal's own client is not used, because it retries a submit without an answer. */
export function fal({ apiKey, queueUrl }: FalAccount, context: AdapterContext): Family {
  const api: VendorApi = {
    name: 'fal',
    secrets: [apiKey],
    log: context.log,
    baseUrl: queueUrl,
    headers: { authorization: `Key ${apiKey}` },
    refusalIn,
  };
  /** Returns the URL that fal named for the action if it is on fal's host, else the default. The key goes to no other host. */
  function at({ id, urls }: JobRef, action: Action): Pick<Parameters<typeof callApi>[2], 'path'> & { api: VendorApi } {
    const named = URL.parse(Urls.catch({}).parse(urls)[action] ?? '');
    const { origin } = new URL(queueUrl);
    if (named?.origin === origin) return { api: { ...api, baseUrl: origin }, path: named.pathname + named.search };
    const suffix = action === 'response' ? '' : `/${action}`;
    return { api, path: `${APP}/requests/${encodeURIComponent(id)}${suffix}` };
  }

  const look = (call: Call & { job: JobRef }) => {
    const { api: there, path } = at(call.job, 'status');
    return callApi(there, Status, { path }, call);
  };

  /** Reads the result. Only this answer holds the validation errors of a request. */
  function resultOf(call: Call & { job: JobRef }) {
    const { api: there, path } = at(call.job, 'response');
    return callApi({ ...there, refusalIn: endedRefusalIn }, Result, { path }, call);
  }

  return {
    provider: 'live',
    stages: () => ['submit'],
    check: () => {},
    download: downloadFrom(api),

    async submit(call) {
      const { task } = call;
      const { resolution, durationSeconds, aspectRatio } = settingsOf(task);
      const pictures = await readPictures(call, api.name, PICTURES);
      const body = {
        prompt: replaceReferences(task, (position) => `Image ${position}`),
        resolution: resolution.toUpperCase(),
        duration: durationSeconds,
        aspect_ratio: aspectRatio,
        // Keeps fal from rewriting the prompt.
        prompt_expansion_mode: 'disabled',
        ...(pictures.length > 0 && { reference_image_urls: pictures.map(dataUri) }),
      };
      const path = `${APP}/${pictures.length > 0 ? 'reference-to-video' : 'text-to-video'}`;
      const created = await callApi(api, Created, { method: 'POST', path, body, paid: true }, call);
      const { status_url: status, response_url: response, cancel_url: cancel } = created;
      return { job: { id: created.request_id, urls: { status, response, cancel } } };
    },

    async poll(call) {
      const { status, error, error_type: kind } = await look(call);
      const running = { state: 'running', progress: status === 'IN_QUEUE' ? 0 : 0.4, retryAfterMs: POLL_MS } as const;
      const ended = jobState(api, WORDS, { status, hasResult: false, hasError: error !== undefined }) !== 'running';
      if (!ended && status !== undefined) return running;
      const failed = () => toStepError(api, { type: asFinalType(meaningOf(kind ?? '')), words: error }, call.task);
      const url = await resultOf(call).then(
        ({ video }) => video?.url,
        (failure: unknown) => {
          // Without a status, only a result proves that the request has ended.
          if (ended) throw error === undefined ? failure : failed();
        },
      );
      if (url !== undefined) return { state: 'succeeded', output: { url } };
      if (!ended) return running;
      throw error === undefined
        ? toStepError(api, { type: 'PROVIDER_FAILED', words: 'it made no video.' }, call.task)
        : failed();
    },

    async cancel(call) {
      if ((await look(call)).status === 'COMPLETED') return;
      const { api: there, path } = at(call.job, 'cancel');
      await callApi(there, z.unknown(), { method: 'PUT', path }, call);
    },

    async probe(signal) {
      const { api: there, path } = at(NO_REQUEST, 'status');
      await callApi(there, z.unknown(), { path }, { signal }).catch((error: unknown) => {
        // fal has no list call. A lookup of an unknown request answers 404 only if the key is valid.
        if (!(error instanceof StepError) || error.type !== 'RESULT_EXPIRED') throw error;
      });
      return 'fal accepts the key';
    },
  };
}

const NO_REQUEST: JobRef = { id: '00000000-0000-0000-0000-000000000000' };

const MEANINGS = new Map<string, StepErrorType>([
  ['content_policy_violation', 'CONTENT_POLICY'],
  ...[
    ...['bad_request', 'value_error', 'missing', 'extra_forbidden', 'one_of', 'multiple_of', 'feature_not_supported'],
    ...[
      'greater_than',
      'greater_than_equal',
      'less_than',
      'less_than_equal',
      'sequence_too_short',
      'sequence_too_long',
    ],
    ...['image_too_small', 'image_too_large', 'image_load_error', 'face_detection_error', 'unsupported_image_format'],
    ...['file_download_error', 'file_too_large', 'unsupported_audio_format', 'unsupported_video_format'],
  ].map((kind): [string, StepErrorType] => [kind, 'INVALID_INPUT']),
  ...[
    ...['internal_server_error', 'internal_error', 'generation_timeout', 'request_timeout', 'startup_timeout'],
    ...['downstream_service_error', 'downstream_service_unavailable', 'no_media_generated', 'client_disconnected'],
    ...['runner_scheduling_failure', 'runner_connection_timeout', 'runner_disconnected', 'runner_connection_refused'],
    ...['runner_connection_error', 'runner_incomplete_response', 'runner_server_error', 'client_cancelled'],
  ].map((kind): [string, StepErrorType] => [kind, 'TRANSIENT']),
]);

export const meaningOf = (kind: string): StepErrorType | undefined => MEANINGS.get(kind);

const Refused = z
  .object({ detail: z.union([z.string(), entries({ msg: text, type: text })]).optional(), error_type: text })
  .catch({});

/** Returns the message of a refusal, and its error type if it has one. */
function saidIn({ body, headers }: Answer): { words: string | undefined; kind: string | undefined } {
  const { detail, error_type } = Refused.parse(body);
  const kind = error_type ?? headers.get('x-fal-error-type') ?? undefined;
  if (typeof detail === 'string') return { words: detail, kind };
  const words = (detail ?? []).flatMap(({ msg }) => msg ?? []).join('; ');
  return { words: words || undefined, kind: detail?.[0]?.type ?? kind };
}

function refusalIn(answer: Answer): Refusal | null {
  const byStatus = refusalByStatus(answer);
  if (byStatus === null) return null;
  const { words, kind } = saidIn(answer);
  const delayMs = byStatus.type === 'RATE_LIMITED' ? BUSY_MS : undefined;
  if (answer.status === 403 && /balance/i.test(words ?? '')) return { type: 'BALANCE', words };
  if (answer.status === 404) return { type: 'RESULT_EXPIRED', words };
  return { type: meaningOf(kind ?? '') ?? byStatus.type, words: words ?? byStatus.words, delayMs };
}

/** Reads the refusal of an ended request, whose named errors and timeouts are final. */
function endedRefusalIn(answer: Answer): Refusal | null {
  const refusal = refusalIn(answer);
  const isFinal = answer.status === 504 || saidIn(answer).kind !== undefined;
  return refusal?.type === 'TRANSIENT' && isFinal ? { ...refusal, type: 'PROVIDER_FAILED' } : refusal;
}
