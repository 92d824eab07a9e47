import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { StepError } from '../step-error.ts';
import type { Family } from './family.ts';
import { hunyuan3d } from './hunyuan3d.ts';
import { kling } from './kling.ts';
import { meshy } from './meshy.ts';
import { minimax } from './minimax.ts';
import { seedance } from './seedance.ts';
import { callFor, contextFor, taskFor } from './test/asking.ts';
import { type Double, startDouble } from './test/double.ts';
import { type Mutation, mutationsOf } from './test/mutations.ts';
import { veo } from './veo.ts';

// Each test reads hundreds of answers.
vi.setConfig({ testTimeout: 60_000 });

/** A vendor that answers every poll with the same answer, to test how an adapter reads it. */
let vendor: Double;
let answer: object = {};
/** fal returns the result in a second answer. */
let result: object = {};
beforeAll(async () => {
  vendor = await startDouble(({ path }) => ({ body: path.endsWith('/requests/r1') ? result : answer }));
});
afterAll(() => vendor[Symbol.asyncDispose]());

interface Case {
  name: string;
  model: string;
  family: () => Family;
  job: { id: string; [detail: string]: unknown };
  running: object[];
  succeeded: object;
  /** The path of the result in the succeeded answer. */
  result: string;
  failed: object;
  /** The path of the status or error in the failed answer. */
  status: string;
  configs?: { resolution: string };
  /** A field that the vendor's library unwraps: without it, the call has no answer. */
  envelope?: string;
}

const URL_OF_RESULT = 'https://result.example/file.glb?signature=1';
const KEYED = () => ({ apiKey: 'key-0123456789', baseUrl: vendor.url });

const arkTask = (status: string, more: object = {}) => ({
  id: 'cgt-1',
  model: 'dreamina-seedance-2-5-260628',
  status,
  error: null,
  created_at: 1778754737,
  updated_at: 1778755025,
  ratio: '16:9',
  duration: 5,
  framespersecond: 24,
  service_tier: 'default',
  ...more,
});
const minimaxTask = (status: string, more: object = {}) => ({
  task: { id: '4240', model: 'MiniMax-H3', status, created_at: 1, duration: 5, modality: 'video', ...more },
});
const klingTask = (status: string, more: object = {}) => ({
  code: 0,
  message: 'SUCCEED',
  request_id: 'request',
  data: [
    { id: '8936', status, message: '', create_time: 1781080778802, external_id: 'FX0-submit', outputs: [], ...more },
  ],
});
const meshyTask = (status: string, more: object = {}) => ({
  id: 'task-1',
  type: 'image-to-3d',
  status,
  progress: 50,
  model_urls: { glb: '', fbx: '' },
  thumbnail_url: '',
  preceding_tasks: 0,
  created_at: 1781080778802,
  started_at: 0,
  task_error: { message: '' },
  ...more,
});
const tencentJob = (Status: string, more: object = {}) => ({
  Response: { Status, ErrorCode: '', ErrorMessage: '', ResultFile3Ds: [], RequestId: 'request', ...more },
});
const hubJob = (status: string, more: object = {}) => ({ status, request_id: 'request', credit_consumed: 15, ...more });
const operation = (more: object) => ({ name: 'models/veo/operations/op1', metadata: { '@type': 'v' }, ...more });
const FILES = [
  { Type: 'OBJ', Url: 'https://result.example/file.zip', PreviewImageUrl: 'https://result.example/file.png' },
  { Type: 'GLB', Url: URL_OF_RESULT, PreviewImageUrl: '' },
];

const CASES: Case[] = [
  {
    name: 'seedance',
    model: 'seedance-2.5',
    family: () => seedance.open(KEYED(), contextFor()),
    job: { id: 'cgt-1' },
    running: [arkTask('queued'), arkTask('running', { content: { video_url: '' } })],
    succeeded: arkTask('succeeded', {
      content: { video_url: URL_OF_RESULT, last_frame_url: '' },
      usage: { total_tokens: 1 },
    }),
    result: 'content.video_url',
    failed: arkTask('failed', { error: { code: 'OutputVideoSensitiveContentDetected', message: 'no' } }),
    status: 'status',
  },
  {
    name: 'minimax',
    model: 'minimax-h3',
    family: () => minimax.open({ ...KEYED(), fal: null }, contextFor()),
    job: { id: '4240' },
    running: [
      minimaxTask('queued', { error: { code: 0, message: '' } }),
      minimaxTask('running', { content: { url: '' } }),
    ],
    succeeded: minimaxTask('succeeded', { content: { url: URL_OF_RESULT }, usage: { total_seconds: 5 } }),
    result: 'task.content.url',
    failed: minimaxTask('failed', { error: { code: 1026, message: 'sensitive' } }),
    status: 'task.status',
  },
  {
    name: 'fal',
    model: 'minimax-h3-max',
    configs: { resolution: '1080p' },
    family: () => minimax.open({ ...KEYED(), fal: { apiKey: 'fal', queueUrl: vendor.url } }, contextFor()),
    job: { id: 'r1' },
    running: [
      { status: 'IN_QUEUE', request_id: 'r1', queue_position: 0, response_url: '' },
      { status: 'IN_PROGRESS', request_id: 'r1', logs: [], error: null },
    ],
    succeeded: {
      status: 'COMPLETED',
      request_id: 'r1',
      logs: [],
      metrics: { inference_time: 3 },
      error: null,
      error_type: null,
    },
    result: '-',
    failed: { status: 'COMPLETED', request_id: 'r1', error: 'the runner broke', error_type: 'runner_server_error' },
    status: 'status',
  },
  {
    name: 'kling',
    model: 'kling-3.0',
    family: () => kling.open(KEYED(), contextFor()),
    job: { id: '8936', orderedAt: Date.now() },
    running: [klingTask('submitted'), klingTask('processing', { billing: [{ amount: '4' }] })],
    succeeded: klingTask('succeeded', {
      outputs: [
        { type: 'video', id: '1', url: URL_OF_RESULT, watermark_url: '', duration: '5.1' },
        { type: 'element', id: '2', name: 'n' },
      ],
    }),
    result: 'data.0.outputs.0.url',
    failed: klingTask('failed', { message: 'The renderer broke' }),
    status: 'data.0.status',
  },
  {
    name: 'veo',
    model: 'veo-3.1-generate-preview',
    family: () => veo.open(KEYED(), contextFor()),
    job: { id: 'models/veo/operations/op1', orderedAt: 0 },
    running: [operation({}), operation({ done: false })],
    succeeded: operation({
      done: true,
      response: {
        '@type': 'r',
        generateVideoResponse: { generatedSamples: [{ video: { uri: URL_OF_RESULT, encoding: 'mp4' } }] },
      },
    }),
    result: 'response.generateVideoResponse.generatedSamples.0.video.uri',
    failed: operation({ done: true, error: { code: 13, message: 'Oops.', details: [] } }),
    status: 'done',
  },
  {
    name: 'meshy',
    model: 'meshy-7',
    family: () => meshy.open(KEYED(), contextFor()),
    job: { id: 'task-1', path: '/openapi/v1/image-to-3d', stage: 'submit' },
    running: [meshyTask('PENDING'), meshyTask('IN_PROGRESS', { task_error: null, model_urls: null })],
    succeeded: meshyTask('SUCCEEDED', { progress: 100, model_urls: { glb: URL_OF_RESULT, fbx: '' } }),
    result: 'model_urls.glb',
    failed: meshyTask('FAILED', { task_error: { message: 'mesh is empty', code: 7 } }),
    status: 'status',
  },
  {
    name: 'hunyuan3d at Tencent Cloud',
    model: 'hunyuan3d-3.1',
    family: () =>
      hunyuan3d.open(
        {
          transport: 'tencent-cloud',
          secretId: 'id',
          secretKey: 'key',
          endpoint: vendor.url,
          version: '2023-09-01',
          region: 'ap-singapore',
          takesModel: true,
        },
        contextFor(),
      ),
    job: { id: '135' },
    running: [tencentJob('WAIT'), tencentJob('RUN', { ResultFile3Ds: null })],
    succeeded: tencentJob('DONE', { ResultFile3Ds: FILES, ResultCreditConsumed: 20 }),
    result: 'Response.ResultFile3Ds.1.Url',
    failed: tencentJob('FAIL', { ErrorCode: 'FailedOperation.InnerError', ErrorMessage: 'why' }),
    status: 'Response.Status',
    envelope: 'Response',
  },
  {
    name: 'hunyuan3d at TokenHub',
    model: 'hunyuan3d-3.1',
    family: () => hunyuan3d.open({ ...KEYED(), transport: 'token-hub' }, contextFor()),
    job: { id: '135' },
    running: [hubJob('queued'), hubJob('in_progress', { data: null })],
    succeeded: hubJob('completed', { data: FILES.map(({ Type, Url }) => ({ type: Type, url: Url })) }),
    result: 'data.1.url',
    failed: hubJob('failed', { error: { code: 500, message: 'why' } }),
    status: 'status',
  },
];

/** Returns how an adapter reads an answer: a state, or the type of the error. */
async function read({ family, model, job, configs }: Case, body: object): Promise<string> {
  answer = body;
  const task = taskFor(model, configs === undefined ? {} : { configs });
  try {
    return (await family().poll({ ...callFor(task), job })).state;
  } catch (error) {
    return error instanceof StepError ? error.type : String(error);
  }
}

/** Returns the mutations that an adapter does not read as expected. */
async function misread(subject: Case, mutations: Mutation[], wanted: (mutation: Mutation, outcome: string) => boolean) {
  const wrong: string[] = [];
  for (const mutation of mutations) {
    if (mutation.path === subject.envelope && mutation.kind !== 'added') continue;
    const outcome = await read(subject, mutation.answer);
    if (!wanted(mutation, outcome)) wrong.push(`${mutation.path} ${mutation.kind}: ${outcome}`);
  }
  return wrong;
}

/** Whether the mutation changed the field or one of its parents; an added field does not. */
const touches = ({ path, kind }: Mutation, field: string): boolean =>
  kind !== 'added' && (path === field || field.startsWith(`${path}.`));

const FINAL = ['PROVIDER_FAILED', 'CONTENT_POLICY', 'INVALID_INPUT', 'AUTH', 'BALANCE'];

describe.each(CASES)('an answer of $name', (subject) => {
  beforeAll(() => {
    result = { video: { url: URL_OF_RESULT } };
  });

  test('about a running job keeps it running, regardless of other fields', async () => {
    result = { detail: 'Request is still in progress' };
    for (const running of subject.running) {
      expect(await read(subject, running)).toBe('running');
      expect(await misread(subject, mutationsOf(running), (_, outcome) => outcome === 'running')).toEqual([]);
    }
  });

  test.each([405, 418, 451])('with the undocumented status %i is retried', async (status) => {
    vendor.before = () => ({ status, body: { message: 'Something new' } });
    try {
      expect(await read(subject, {})).toBe('TRANSIENT');
    } finally {
      vendor.before = () => undefined;
    }
  });

  test('with an unknown job status keeps the job running', async () => {
    const strange = JSON.parse(
      JSON.stringify(subject.running.at(-1)).replace(/"(status|Status)":"[^"]*"/, '"$1":"DREAMING"'),
    );
    expect(await read(subject, strange)).toBe('running');
  });

  test('about a finished job returns the result if it can be read', async () => {
    result = { video: { url: URL_OF_RESULT } };
    expect(await read(subject, subject.succeeded)).toBe('succeeded');
    const mutations = mutationsOf(subject.succeeded);
    const readable = mutations.filter((mutation) => !touches(mutation, subject.result));
    expect(await misread(subject, readable, (_, outcome) => outcome === 'succeeded')).toEqual([]);
    // A finished job without a result has failed: polling again would not end.
    const lost = mutations.filter((each) => touches(each, subject.result) && !touches(each, subject.status));
    expect(await misread(subject, lost, (_, outcome) => outcome === 'PROVIDER_FAILED')).toEqual([]);
  });

  test('about a failed job ends it, regardless of the reason', async () => {
    result = {};
    expect(FINAL).toContain(await read(subject, subject.failed));
    const mutations = mutationsOf(subject.failed).filter((mutation) => !touches(mutation, subject.status));
    expect(await misread(subject, mutations, (_, outcome) => FINAL.includes(outcome))).toEqual([]);
  });
});
