import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkerTask } from '@review/contract';
import { extractText, getDocumentProxy } from 'unpdf';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { document } from './document.ts';
import type { Submitted } from './family.ts';
import { callFor, contextFor, downloaded, type Storage, startStorage, taskFor, token } from './test/asking.ts';
import type { Reply } from './test/double.ts';
import { OPENAI_KEY, type OpenAiDouble, refusal, startOpenAi, stream } from './test/openai.ts';

let storage: Storage;
let openai: OpenAiDouble;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'review-document-'));
  storage = await startStorage();
});
afterAll(async () => {
  await storage[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  openai = await startOpenAi();
  return () => openai[Symbol.asyncDispose]();
});

const accountOf = (own = {}) => ({
  apiKey: OPENAI_KEY,
  baseUrl: openai.baseUrl,
  model: 'writer-1',
  fonts: [],
  ...own,
});
const familyFor = (own = {}, context = contextFor()) => document.open(accountOf(own), context);

async function contentOf(submitted: Submitted): Promise<Buffer> {
  if (!('done' in submitted)) throw new Error('there is a job');
  return downloaded(familyFor(), taskFor('pdf'), submitted.done);
}

const textOf = async (task: WorkerTask) => (await contentOf(await familyFor().submit(callFor(task)))).toString();

const refusedWith = (task = taskFor('markdown'), family = familyFor(), stage = 'submit') =>
  Promise.resolve(task)
    .then((checked) => family.check(checked))
    .then(() => family.submit(callFor(task, undefined, stage)))
    .then(
      () => expect.fail('it was taken'),
      (error: unknown) => error,
    );

test('Markdown: sends the system prompt and the prompt, and unwraps the answer', async () => {
  openai.write = () => ({
    text: '```markdown\r\n# A lamp\r\n\r\n![far](https://example.com/x.png) <b>light</b>\r\n```',
  });
  expect(await textOf(taskFor('markdown'))).toBe('# A lamp\n\nfar \\<b>light\\</b>\n');
  expect(openai.chats).toEqual([
    {
      model: 'writer-1',
      stream: true,
      messages: [
        { role: 'system', content: expect.stringMatching(/GitHub-flavoured Markdown.*no raw HTML and no images/s) },
        { role: 'user', content: 'A lamp' },
      ],
    },
  ]);
});

test('PDF: renders the answer', async () => {
  const begun = Number(new Date().toISOString().replace(/\D/g, '').slice(0, 14));
  openai.write = () => ({ text: '# The lamp\n\n- It *shines*\n\n![a picture](file:///etc/passwd)' });
  const submitted = await familyFor().submit(callFor(taskFor('pdf')));
  expect(submitted.warnings).toBeUndefined();
  const pdf = await getDocumentProxy(new Uint8Array(await contentOf(submitted)));
  expect((await extractText(pdf, { mergePages: true })).text.replace(/\s+/g, ' ')).toContain(
    'The lamp It shines a picture',
  );
  const { info } = z
    .object({ info: z.object({ Title: z.string(), CreationDate: z.string() }) })
    .parse(await pdf.getMetadata());
  expect(info.Title).toBe('The lamp');
  // Such as D:20261115063000Z: the current time, not a fixed date.
  expect(Number(info.CreationDate.slice(2, 16))).toBeGreaterThanOrEqual(begun);
});

test('letters without a font are a warning for the user, and the log names the setting', async () => {
  openai.write = () => ({ text: '# 漢字\n\nA lamp' });
  const context = contextFor();
  const submitted = await familyFor({}, context).submit(callFor(taskFor('pdf')));
  expect(submitted.warnings).toEqual(['Letters without a font on this service are drawn as a box: 漢 字']);
  expect(context.logged.join()).toContain('PDF_FONT_DIR');
  expect((await familyFor().submit(callFor(taskFor('markdown')))).warnings).toBeUndefined();
});

test('an unreadable font does not fail the document', async () => {
  const path = join(folder, 'broken.ttf');
  await writeFile(path, 'no font');
  const context = contextFor();
  const submitted = await familyFor({ fonts: [path] }, context).submit(callFor(taskFor('pdf')));
  expect((await contentOf(submitted)).subarray(0, 5).toString()).toBe('%PDF-');
  expect(context.logged.join()).toContain('fonts of this host cannot be read');
});

test('attachments: texts are fenced, pictures and PDFs are sent unchanged, each with its name', async () => {
  const attachments = [
    storage.attach(1, 'notes `of`\nours.md', 'text/markdown', Buffer.from('# Notes\r\n````\ncode\n````')),
    await storage.picture(2, { format: 'jpeg' }),
    storage.attach(3, 'brief.pdf', 'application/pdf', Buffer.from('%PDF-1.7')),
    storage.attach(4, 'data.json', 'application/json', Buffer.from('{"a":1}')),
    storage.attach(
      5,
      'drawing.svg',
      'image/svg+xml',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
    ),
  ];
  const prompt = `Join ${token(1)} and ${token(3)}`;
  await textOf(taskFor('markdown', { prompt, attachments }));
  expect(openai.chats[0]?.messages[1]?.content).toEqual([
    { type: 'text', text: 'Join attachment 1 and attachment 3' },
    { type: 'text', text: 'attachment 1, notes of ours.md:\n\n`````\n# Notes\n````\ncode\n````\n`````' },
    { type: 'text', text: 'attachment 2, picture 2.jpeg:' },
    { type: 'image_url', image_url: { url: expect.stringMatching(/^data:image\/jpeg;base64,/) } },
    { type: 'text', text: 'attachment 3, brief.pdf:' },
    { type: 'file', file: { filename: 'brief.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjc=' } },
    { type: 'text', text: 'attachment 4, data.json:\n\n```\n{"a":1}\n```' },
    { type: 'text', text: 'attachment 5, drawing.svg:' },
    { type: 'image_url', image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) } },
  ]);
});

test.each([
  ['a video', 'video/mp4', Buffer.from('film'), /is video\/mp4; documents accept texts, pictures and PDFs/],
  ['no text after all', 'text/plain', Buffer.from([0xff, 0xfe, 0x00]), /is not valid UTF-8 text/],
  ['too much', 'text/plain', Buffer.alloc(21 * 1024 * 1024, 'a'), /at most 20 MB in total/],
])('%s is refused before any request', async (_name, mimeType, bytes, message) => {
  const attachments = [storage.attach(1, 'file', mimeType, bytes)];
  expect(await refusedWith(taskFor('pdf', { attachments }))).toMatchObject({
    type: 'INVALID_INPUT',
    message: expect.stringMatching(message),
  });
  expect(openai.requests).toEqual([]);
});

test('the reasoning of a model that sends lists of parts is not in the document', async () => {
  const chunk = (content: unknown, finish_reason: string | null = null) => ({
    id: 'r1',
    choices: [{ index: 0, delta: { content }, finish_reason }],
  });
  const thinking = (text: string) => [{ type: 'thinking', thinking: [{ type: 'text', text }] }];
  openai.after = () =>
    stream(
      [
        chunk(thinking('The user wants')),
        chunk(thinking(' a lamp.')),
        chunk([
          { type: 'text', text: '# A ' },
          { type: 'reference', reference_ids: [1] },
        ]),
        chunk([{ type: 'text', text: 'lamp' }]),
        chunk('\n\nIt shines.', 'stop'),
      ],
      true,
    );
  expect(await textOf(taskFor('markdown'))).toBe('# A lamp\n\nIt shines.\n');
  expect(openai.chats).toHaveLength(1);
});

test('an answer at the output limit is stored and continued in a second call', async () => {
  openai.write = (messages) =>
    messages.length === 2 ? { text: '# A lamp\n\nIt stands by the win', finish: 'length' } : { text: 'dow.' };
  const family = familyFor();
  const task = taskFor('markdown');
  expect(family.stages(task)).toEqual(['submit', 'continue']);
  const first = await family.submit(callFor(task));
  expect(first).toEqual({ job: { id: 'chatcmpl-1', text: '# A lamp\n\nIt stands by the win' } });
  if (!('job' in first)) throw new Error('it is done');
  expect(await family.poll({ task, signal: new AbortController().signal, job: first.job })).toMatchObject({
    state: 'succeeded',
  });
  const later = { ...task, stages: { submit: { intents: 1, job: JSON.parse(JSON.stringify(first.job)) } } };
  const second = await familyFor().submit(callFor(later, undefined, 'continue'));
  expect((await contentOf(second)).toString()).toBe('# A lamp\n\nIt stands by the window.\n');
  expect(openai.chats[1]?.messages.slice(2)).toEqual([
    { role: 'assistant', content: '# A lamp\n\nIt stands by the win' },
    { role: 'user', content: expect.stringContaining('where you stopped') },
  ]);
  openai.write = () => ({ text: 'and on and', finish: 'length' });
  expect(await refusedWith(later, family, 'continue')).toMatchObject({
    type: 'PROVIDER_FAILED',
    message: 'The language model failed: the document is too long for it.',
  });
});

test.each([
  ['content_filter', { text: 'A la', finish: 'content_filter' as const }, 'CONTENT_POLICY'],
  ['a refusal', { text: '', refusal: 'I cannot help with that.' }, 'CONTENT_POLICY'],
  ['nothing', { text: '```\n\n```' }, 'PROVIDER_FAILED'],
  ['no end', { text: 'la '.repeat(200_000) }, 'PROVIDER_FAILED'],
])('an unusable answer (%s)', async (_name, written, type) => {
  openai.write = () => written;
  expect(await refusedWith()).toMatchObject({ type });
  expect(openai.orders).toHaveLength(1);
});

test.each<[string, Reply | 'reset' | 'garbage' | 'html', object]>([
  ['content_filter', refusal(400, 'content_filter', 'Filtered.'), { type: 'CONTENT_POLICY' }],
  ['context_length_exceeded', refusal(400, 'context_length_exceeded', 'Too long.'), { type: 'INVALID_INPUT' }],
  ['invalid_api_key', refusal(401, 'invalid_api_key', 'Wrong.'), { type: 'AUTH' }],
  ['no credits', refusal(402, null, 'Pay.'), { type: 'BALANCE' }],
  ['insufficient_quota', refusal(429, 'insufficient_quota', 'Pay.'), { type: 'BALANCE' }],
  ['429', { ...refusal(429, null, 'Slow.'), headers: { 'retry-after': '3' } }, { type: 'RATE_LIMITED', delayMs: 3000 }],
  ['500', refusal(500, null, 'Oops.'), { type: 'AMBIGUOUS_SUBMIT' }],
  ['a stream that breaks off', stream([{ choices: [{ delta: { content: 'A la' } }] }]), { type: 'AMBIGUOUS_SUBMIT' }],
  ['reset', 'reset', { type: 'AMBIGUOUS_SUBMIT' }],
  ['garbage', 'garbage', { type: 'AMBIGUOUS_SUBMIT' }],
  ['html', 'html', { type: 'AMBIGUOUS_SUBMIT' }],
])('%s, once', async (_name, reply, error) => {
  openai.after = () => reply;
  expect(await refusedWith()).toMatchObject(error);
  expect(openai.requests).toHaveLength(1);
});

test('progress is reported while the model writes, and PROVIDER_MODEL_MAP can override the model', async () => {
  const told: number[] = [];
  openai.write = () => ({ text: 'A lamp. '.repeat(1000) });
  const family = familyFor({ model: 'writer-0' }, contextFor({ markdown: 'writer-1' }));
  await family.submit({ ...callFor(taskFor('markdown')), onProgress: (fraction) => told.push(fraction) });
  expect(told.length).toBeGreaterThan(10);
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect(told.at(-1)).toBeCloseTo(0.5);
  expect(await refusedWith(taskFor('pdf'), family)).toMatchObject({ type: 'AUTH' });
});

test('errors and logs contain neither the key nor the prompt nor an attachment', async () => {
  const context = contextFor();
  const attachments = [storage.attach(1, 'notes.txt', 'text/plain', Buffer.from('Private notes'))];
  const task = taskFor('markdown', { prompt: 'A very private lamp', attachments });
  const said = `Key ${OPENAI_KEY} at https://api.example.com/v1?sig=1 for "A very private lamp".`;
  for (const [status, code] of [
    [401, 'invalid_api_key'],
    [400, 'invalid_value'],
    [402, null],
    [500, null],
  ] as const) {
    openai.before = () => refusal(status, code, said);
    expect(String(await refusedWith(task, familyFor({}, context)))).not.toMatch(/sk-double|private|https:/i);
  }
  expect(context.logged).toHaveLength(2);
  expect(context.logged.join()).not.toMatch(/sk-double|private|https:/i);
});

test('the probe checks that the account has the model', async () => {
  const { signal } = new AbortController();
  expect(await familyFor().probe?.(signal)).toBe('it has writer-1');
  await expect(familyFor({ model: 'writer-9' }).probe?.(signal)).rejects.toMatchObject({ type: 'AUTH' });
  await expect(familyFor({ apiKey: 'sk-wrong' }).probe?.(signal)).rejects.toMatchObject({ type: 'AUTH' });
});
