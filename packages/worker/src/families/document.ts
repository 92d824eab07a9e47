import type { WorkerTask } from '@review/contract';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { z } from 'zod';
import { makeDocument } from '../documents/make.ts';
import type { DocumentAccount } from '../provider-settings.ts';
import { StepError } from '../step-error.ts';
import type { AdapterContext } from './adapter-context.ts';
import { entries, fields, text, word } from './answer-fields.ts';
import { checkMaterial, materialOf } from './document-material.ts';
import type { Call, Family, Submitted } from './family.ts';
import { inHand, writeInHand } from './in-hand.ts';
import { callOpenAi, Incomprehensible, openAiClient, probeOpenAi } from './openai.ts';
import { namedPrompt } from './references.ts';
import { refused } from './refusal.ts';

const SYSTEM = `You write documents. Answer with the document itself and nothing else, in GitHub-flavoured Markdown: \
begin with a heading of the first level, do not put the whole into a code fence, use no raw HTML and no images. \
Write in the language of the request. Attached material is there to be used; it is not a request.`;
const GO_ON = 'Go on exactly where you stopped, in the middle of a word if need be. Repeat nothing, explain nothing.';

/** More than any model writes at once. */
const MOST_CHARACTERS = 500_000;
/** Half of the way, as far as a bar can tell that knows no end. */
const TYPICAL_CHARACTERS = 8000;

/** Reasoning models send lists of parts, of which only the text is the answer. */
const Content = z
  .union([z.string(), entries({ type: word, text: z.string().optional().catch(undefined) })])
  .optional()
  .catch(undefined);
const Chunk = z
  .object({
    id: text,
    choices: entries({
      delta: fields({ content: Content, refusal: z.string().optional().catch(undefined) }),
      finish_reason: z.unknown(),
    }),
  })
  .catch({ choices: [] });

const Beginning = z.object({ text: z.string() });

const writtenIn = (content: z.infer<typeof Content>): string =>
  typeof content === 'string'
    ? content
    : (content ?? []).map((part) => ((part.type ?? 'text') === 'text' ? (part.text ?? '') : '')).join('');

interface Written {
  id: string;
  text: string;
  /** Whether it stopped because it may not write more at once. */
  cut: boolean;
}

/**
 * Documents by any language model that speaks OpenAI's chat. One answer is all it usually takes. One that was cut off
 * is kept in the row and continued once, as a stage of its own: a crash never pays for the beginning again.
 */
export function document(account: DocumentAccount, context: AdapterContext): Family {
  const vendor = { name: 'The language model', secrets: [account.apiKey], log: context.log };
  const client = openAiClient(account);
  const modelFor = (task: WorkerTask) => context.providerModelId(task.outputModel, account.model);

  async function write(
    task: WorkerTask,
    messages: ChatCompletionMessageParam[],
    { signal, onProgress }: { signal: AbortSignal; onProgress: (fraction: number) => void },
  ): Promise<Written> {
    const { chat } = await client();
    // Bit by bit, because a connection on which nothing was heard for five minutes is dropped.
    const stream = await chat.completions.create({ model: modelFor(task), messages, stream: true }, { signal });
    let [id, written, refusal, finish] = ['', '', '', ''];
    for await (const chunk of stream) {
      const { id: named, choices } = Chunk.parse(chunk);
      id ||= named ?? '';
      for (const { delta, finish_reason } of choices) {
        written += writtenIn(delta?.content);
        refusal += delta?.refusal ?? '';
        // Of a reason that cannot be read, only this is known: it is the end.
        finish ||= typeof finish_reason === 'string' ? finish_reason : finish_reason ? 'stop' : '';
      }
      if (written.length + refusal.length > MOST_CHARACTERS)
        throw new StepError('PROVIDER_FAILED', `${vendor.name} writes without end.`);
      onProgress(written.length / (written.length + TYPICAL_CHARACTERS));
    }
    if (finish === 'content_filter' || refusal !== '') {
      throw refused(vendor, { type: 'CONTENT_POLICY', words: refusal || undefined }, task);
    }
    if (finish === '') throw new Incomprehensible('its answer breaks off.');
    return { id, text: written, cut: finish === 'length' };
  }

  async function made({ task, signal }: Call, answer: string): Promise<Submitted> {
    const format = task.outputModel === 'pdf' ? 'pdf' : 'markdown';
    const made = await makeDocument({ answer, format, fonts: account.fonts }, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      // Asked again, the model would be paid again, and its text hardly be another.
      context.log.error({ err: error, file: task.fileId }, 'a document could not be made of an answer');
      throw new StepError('PROVIDER_FAILED', 'No document can be made of what the language model wrote.');
    });
    const { bytes, missing, fontProblem } = made;
    if (bytes.length === 0) throw refused(vendor, { type: 'PROVIDER_FAILED', words: 'it wrote nothing.' }, task);
    if (fontProblem !== null) context.log.error({ problem: fontProblem }, 'the fonts of this host cannot be read');
    if (missing.length === 0) return { done: inHand(bytes) };
    const some = missing.slice(0, 10).join(' ');
    context.log.warn({ letters: some, file: task.fileId }, 'no font has these letters: PDF_FONT_DIR names more fonts');
    const all = missing.length > 10 ? `${some} and ${missing.length - 10} more` : some;
    return { done: inHand(bytes), warnings: [`A box stands for letters that this service has no font for: ${all}`] };
  }

  return {
    provider: 'live',
    stages: () => ['submit', 'continue'],
    check: checkMaterial,

    async submit({ task, stage, signal, onProgress = () => {} }) {
      const prompt = namedPrompt(task, (position) => `attachment ${position}`);
      const material = await materialOf({ task, signal });
      const messages: ChatCompletionMessageParam[] = [
        { role: 'system', content: SYSTEM },
        { role: 'user', content: material.length === 0 ? prompt : [{ type: 'text', text: prompt }, ...material] },
      ];
      const paid = (asked: ChatCompletionMessageParam[]) =>
        callOpenAi(vendor, { task, paid: true }, () => write(task, asked, { signal, onProgress }));
      if (stage !== 'continue') {
        const { id, text, cut } = await paid(messages);
        return cut ? { job: { id, text } } : made({ task, signal }, text);
      }
      const { text: beginning } = Beginning.parse(task.stages['submit']?.job);
      const begun: ChatCompletionMessageParam = { role: 'assistant', content: beginning };
      const { text, cut } = await paid([...messages, begun, { role: 'user', content: GO_ON }]);
      if (cut) throw refused(vendor, { type: 'PROVIDER_FAILED', words: 'the document is too long for it.' }, task);
      return made({ task, signal }, beginning + text);
    },

    poll: async () => ({ state: 'succeeded', output: {} }),

    probe: (signal) => probeOpenAi(vendor, client, [account.model], signal),

    download: writeInHand,
  };
}
