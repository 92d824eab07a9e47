import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { StepError } from '../step-error.ts';
import { document } from './document.ts';
import type { Family } from './family.ts';
import { geminiImage } from './gemini-image.ts';
import { gptImage } from './gpt-image.ts';
import { minimax } from './minimax.ts';
import { callFor, contextFor, downloaded, taskFor } from './test/asking.ts';
import { type Double, type Reply, startDouble } from './test/double.ts';
import { type Mutation, mutationsOf } from './test/mutations.ts';
import { stream } from './test/openai.ts';

// Each test reads hundreds of answers.
vi.setConfig({ testTimeout: 60_000 });

/** A vendor that answers every request with the same answer, to test how an adapter reads it. */
let vendor: Double;
let reply: Reply = {};
beforeAll(async () => {
  vendor = await startDouble(({ path }) => (path.endsWith('/status') ? { body: { status: 'COMPLETED' } } : reply));
});
afterAll(() => vendor[Symbol.asyncDispose]());

const PICTURE = Buffer.from('a picture').toString('base64');
const KEYED = () => ({ apiKey: 'key-0123456789', baseUrl: vendor.url });
const images = () => gptImage.open({ ...KEYED(), organization: null, project: null }, contextFor());

/** Returns the inline result of a submit. */
const ordered = (model: string, family: () => Family) => async () => {
  const submitted = await family().submit(callFor(taskFor(model)));
  if ('job' in submitted) return String(submitted.job['text']);
  return (await downloaded(family(), taskFor(model), submitted.done)).toString();
};

async function fetched(): Promise<string> {
  const family = minimax.open({ ...KEYED(), fal: { apiKey: 'fal', queueUrl: vendor.url } }, contextFor());
  const task = taskFor('minimax-h3-max', { configs: { resolution: '1080p' } });
  const polled = await family.poll({ ...callFor(task), job: { id: 'r1' } });
  return polled.state === 'succeeded' ? String(polled.output['url']) : polled.state;
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'writer-1',
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  usage: null,
});

interface Case {
  name: string;
  answer: object;
  reply: (answer: object) => Reply;
  read: () => Promise<string>;
  wanted: string;
  /** The paths of the fields that the result needs. */
  needed: string[];
}

const eventsIn = (answer: object): unknown[] =>
  'events' in answer && Array.isArray(answer.events) ? answer.events : [];

const CASES: Case[] = [
  {
    name: 'gpt-image, bit by bit',
    answer: {
      events: [
        { type: 'image_generation.partial_image', b64_json: 'aGFsZg==', partial_image_index: 0 },
        { type: 'image_generation.completed', b64_json: PICTURE, size: '1024x1024', usage: { total_tokens: 1 } },
      ],
    },
    reply: (answer) => stream(eventsIn(answer)),
    read: ordered('gpt-image-2', images),
    wanted: 'a picture',
    needed: ['events.1.b64_json', 'events.0.type', 'events.0.partial_image_index'],
  },
  {
    name: 'gpt-image, at once',
    answer: { created: 1, data: [{ b64_json: PICTURE, revised_prompt: 'A lamp' }, { b64_json: PICTURE }], usage: null },
    reply: (body) => ({ body }),
    read: ordered('gpt-image-2', images),
    wanted: 'a picture',
    needed: ['data'],
  },
  {
    name: 'gemini-image',
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
    read: ordered('gemini-3-pro-image', () => geminiImage.open(KEYED(), contextFor())),
    wanted: 'a picture',
    // The library itself reads the usage.
    needed: ['candidates.0.content.parts.2.inlineData.data', 'usageMetadata'],
  },
  {
    name: 'a language model',
    answer: {
      events: [
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: '# A lamp' }),
        chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
        // At the output limit, so that the answer is stored unchanged.
        chunk({}, 'length'),
        { ...chunk({}), choices: [], usage: { total_tokens: 3 } },
      ],
    },
    reply: (answer) => stream(eventsIn(answer), true),
    read: ordered('markdown', () => document.open({ ...KEYED(), model: 'writer-1', fonts: [] }, contextFor())),
    wanted: '# A lamp',
    needed: [
      ...['events.0.choices.0.delta.content', 'events.1.choices.0.delta.content', 'events.3.choices.0.finish_reason'],
      // Another finish reason or part type has another meaning.
      ...[0, 1, 2].map((index) => `events.${index}.choices.0.finish_reason`),
      'events.2.choices.0.delta.content',
    ],
  },
  {
    name: 'the result of fal',
    answer: {
      video: { url: 'https://result.example/1.mp4', content_type: 'video/mp4' },
      seed: 1,
      expanded_prompt: null,
    },
    reply: (body) => ({ body }),
    read: fetched,
    wanted: 'https://result.example/1.mp4',
    needed: ['video.url'],
  },
];

const touches = ({ path, kind }: Mutation, field: string): boolean =>
  kind !== 'added' && (path === field || field.startsWith(`${path}.`) || path.startsWith(`${field}.`));

test.each(CASES)('an answer of $name returns its result if it can be read', async (subject) => {
  const read = async (answer: object) => {
    reply = subject.reply(answer);
    return subject.read().catch((error: unknown) => (error instanceof StepError ? error.type : String(error)));
  };
  expect(await read(subject.answer)).toBe(subject.wanted);
  const wrong: string[] = [];
  for (const mutation of mutationsOf(subject.answer)) {
    if (subject.needed.some((field) => touches(mutation, field))) continue;
    const outcome = await read(mutation.answer);
    if (outcome !== subject.wanted) wrong.push(`${mutation.path} ${mutation.kind}: ${outcome}`);
  }
  expect(wrong).toEqual([]);
});
