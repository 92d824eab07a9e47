import type { Part } from '@google/genai';
import { z } from 'zod';
import type { KeyedAccount } from '../provider-settings.ts';
import { providerModels } from './account-models.ts';
import type { AdapterContext } from './adapter-context.ts';
import { entries, fields, flag, text, word } from './answer-fields.ts';
import type { Call, Family, FamilyDescription } from './family.ts';
import { callGoogle, GOOGLE_KEY_SETTING, googleClient, probeGoogle, readGoogleAccount } from './google.ts';
import { inlineOutput, writeInlineOutput } from './inline-output.ts';
import { type PictureLimits, type Reference, readPictures, replaceReferences } from './references.ts';
import { type Refusal, toStepError } from './refusal.ts';

const MEGABYTE = 1024 * 1024;
const LIMITS: PictureLimits = {
  types: ['image/png', 'image/jpeg', 'image/webp'],
  maxBytes: 14 * MEGABYTE,
  // Gemini accepts requests of 20 MB, in which base64 adds a third to a picture.
  maxTotalBytes: 14 * MEGABYTE,
};

const Answer = z.object({
  promptFeedback: fields({ blockReason: word, blockReasonMessage: text }),
  candidates: entries({
    finishReason: word,
    finishMessage: text,
    content: fields({ parts: entries({ text, thought: flag, inlineData: fields({ data: word }) }) }),
  }),
});
type Answer = z.infer<typeof Answer>;

/** Google's images. The provider is synchronous: its answer holds the picture, or the reason for the refusal. */
export const geminiImage: FamilyDescription<KeyedAccount> = {
  keySettings: GOOGLE_KEY_SETTING,
  readAccount: readGoogleAccount,
  submitSeconds: 300,
  storeSeconds: 120,
  open,
};

function open(account: KeyedAccount, context: AdapterContext): Family {
  const vendor = { name: 'Gemini', secrets: [account.apiKey], log: context.log };
  const client = googleClient(account);

  async function ask({ task, signal }: Call, pictures: readonly Reference[]): Promise<Answer> {
    const { models } = await client();
    const answer = await models.generateContent({
      model: context.providerModelId(task.outputModel, task.outputModel),
      contents: [{ role: 'user', parts: [...pictures.flatMap(partsOf), { text: promptOf(task) }] }],
      // The only size that all models support.
      config: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { imageSize: '1K' }, abortSignal: signal },
    });
    return Answer.parse(answer);
  }

  return {
    provider: 'live',
    stages: () => ['submit'],
    check: () => {},

    async submit(call) {
      const { task } = call;
      const pictures = await readPictures(call, vendor.name, LIMITS);
      const answer = await callGoogle(vendor, { task, kind: 'draw' }, () => ask(call, pictures));
      const picture = pictureIn(answer);
      if (picture === null) throw toStepError(vendor, refusalIn(answer), task);
      return { done: inlineOutput(Buffer.from(picture, 'base64')) };
    },

    poll: async () => ({ state: 'succeeded', output: {} }),

    probe: (signal) => probeGoogle(vendor, client, providerModels('gemini-image', context), signal),

    download: writeInlineOutput,
  };
}

const promptOf = (task: Call['task']) => replaceReferences(task, (position) => `image ${position}`);

/** Labels each picture, so that the prompt can refer to it. */
const partsOf = ({ mimeType, bytes }: Reference, index: number): Part[] => [
  { text: `image ${index + 1}:` },
  { inlineData: { mimeType, data: bytes.toString('base64') } },
];

const partsIn = ({ candidates }: Answer) =>
  (candidates[0]?.content?.parts ?? []).filter(({ thought }) => thought !== true);

/** Returns the last picture; earlier ones are drafts. */
const pictureIn = (answer: Answer): string | null =>
  partsIn(answer).findLast(({ inlineData }) => inlineData?.data)?.inlineData?.data ?? null;

const POLICY = new Set([
  ...['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION', 'SAFETY', 'PROHIBITED_CONTENT'],
  ...['BLOCKLIST', 'SPII', 'RECITATION'],
]);

/** Reads why an answer has no picture, which is how Gemini usually refuses. */
function refusalIn(answer: Answer): Refusal {
  const { blockReason, blockReasonMessage } = answer.promptFeedback ?? {};
  if (blockReason !== undefined) {
    return { type: 'CONTENT_POLICY', words: blockReasonMessage ?? `the prompt is blocked (${blockReason}).` };
  }
  const { finishReason, finishMessage } = answer.candidates[0] ?? {};
  const reason = finishReason ?? 'no reason given';
  if (POLICY.has(reason))
    return { type: 'CONTENT_POLICY', words: finishMessage ?? `the picture is blocked (${reason}).` };
  const answered = partsIn(answer).flatMap(({ text }) => (text === undefined ? [] : [text]));
  const words = finishMessage ?? answered.join(' ').trim();
  return { type: 'PROVIDER_FAILED', words: words || `it made no picture (${reason}).` };
}
