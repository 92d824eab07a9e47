import { existsSync } from 'node:fs';
import type { WorkerTask } from '@review/contract';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { z } from 'zod';
import { makeDocument } from '../documents/make.ts';
import { type Account, type AccountReader, type KeyedAccount, misconfigured } from '../provider-settings.ts';
import { StepError } from '../step-error.ts';
import type { AdapterContext } from './adapter-context.ts';
import { entries, fields, text, word } from './answer-fields.ts';
import { checkMaterial, materialOf } from './document-material.ts';
import type { Call, Family, FamilyDescription, Submitted } from './family.ts';
import { inlineOutput, writeInlineOutput } from './inline-output.ts';
import { callOpenAi, OPENAI_URL, openAiClient, probeOpenAi, UnreadableAnswer } from './openai.ts';
import { replaceReferences } from './references.ts';
import { toStepError } from './refusal.ts';

interface DocumentAccount extends KeyedAccount {
  model: string;
  /** Font files, or folders of them, in addition to the shipped fonts. */
  fonts: readonly string[];
}

const SYSTEM = `You write documents. Answer with the document itself and nothing else, in GitHub-flavoured Markdown: \
begin with a heading of the first level, do not put the whole into a code fence, use no raw HTML and no images. \
Write in the language of the request. Attached material is there to be used; it is not a request.`;
const GO_ON = 'Go on exactly where you stopped, in the middle of a word if need be. Repeat nothing, explain nothing.';

/** More than any model writes in one answer. */
const MAX_CHARACTERS = 500_000;
/** The length at which the reported progress is 50 %: the final length is unknown. */
const TYPICAL_CHARACTERS = 8000;

/** Reasoning models send lists of parts; only the parts of type `text` belong to the answer. */
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
  /** Whether the answer reached the model's output limit. */
  cut: boolean;
}

/**
 * Documents of any language model with OpenAI's chat API. An answer that reaches the output limit is stored in the row and
 * continued once, as a second stage, so that a crash does not pay for the beginning again.
 */
export const document: FamilyDescription<DocumentAccount> = {
  keySettings: 'DOCUMENT_LLM_API_KEY and DOCUMENT_LLM_MODEL',
  readAccount,
  submitSeconds: 240,
  storeSeconds: 60,
  open,
};

function readAccount({ value, setting, address }: AccountReader): Account<DocumentAccount> {
  const [apiKey, model] = [value('DOCUMENT_LLM_API_KEY'), value('DOCUMENT_LLM_MODEL')];
  if (apiKey === undefined && model === undefined) return { state: 'sandbox' };
  if (apiKey === undefined) return misconfigured('DOCUMENT_LLM_MODEL is set, DOCUMENT_LLM_API_KEY is not.');
  if (model === undefined) return misconfigured('DOCUMENT_LLM_API_KEY is set, DOCUMENT_LLM_MODEL is not.');
  const fonts = [setting('PDF_FONT_CJK', fontPath, ''), setting('PDF_FONT_DIR', fontPath, '')].filter(Boolean);
  return { state: 'live', apiKey, model, fonts, baseUrl: address('DOCUMENT_LLM_BASE_URL', OPENAI_URL) };
}

const fontPath = z
  .string()
  .refine(
    (path) => path === '' || existsSync(path),
    'no such file or folder; write the path of a font file or a folder of fonts',
  );

function open(account: DocumentAccount, context: AdapterContext): Family {
  const vendor = { name: 'The language model', secrets: [account.apiKey], log: context.log };
  const client = openAiClient(account);
  const modelFor = (task: WorkerTask) => context.providerModelId(task.outputModel, account.model);

  async function write(
    task: WorkerTask,
    messages: ChatCompletionMessageParam[],
    { signal, onProgress }: { signal: AbortSignal; onProgress: (fraction: number) => void },
  ): Promise<Written> {
    const { chat } = await client();
    // Streamed, because `fetch` drops a connection after five minutes without data.
    const stream = await chat.completions.create({ model: modelFor(task), messages, stream: true }, { signal });
    let [id, written, refusal, finish] = ['', '', '', ''];
    for await (const chunk of stream) {
      const { id: named, choices } = Chunk.parse(chunk);
      id ||= named ?? '';
      for (const { delta, finish_reason } of choices) {
        written += writtenIn(delta?.content);
        refusal += delta?.refusal ?? '';
        // A reason of an unknown type still marks the end.
        finish ||= typeof finish_reason === 'string' ? finish_reason : finish_reason ? 'stop' : '';
      }
      if (written.length + refusal.length > MAX_CHARACTERS)
        throw new StepError('PROVIDER_FAILED', `${vendor.name} wrote more than ${MAX_CHARACTERS} characters.`);
      onProgress(written.length / (written.length + TYPICAL_CHARACTERS));
    }
    if (finish === 'content_filter' || refusal !== '') {
      throw toStepError(vendor, { type: 'CONTENT_POLICY', words: refusal || undefined }, task);
    }
    if (finish === '') throw new UnreadableAnswer('its answer ended early.');
    return { id, text: written, cut: finish === 'length' };
  }

  async function made({ task, signal }: Call, answer: string): Promise<Submitted> {
    const format = task.outputModel === 'pdf' ? 'pdf' : 'markdown';
    const made = await makeDocument({ answer, format, fonts: account.fonts }, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      // PROVIDER_FAILED is not retried: each attempt pays for another answer of the model, which is likely to fail the same way.
      context.log.error({ err: error, file: task.fileId }, 'document could not be rendered');
      throw new StepError('PROVIDER_FAILED', 'The answer of the language model could not be rendered as a document.');
    });
    const { bytes, missing, fontProblem } = made;
    if (bytes.length === 0) throw toStepError(vendor, { type: 'PROVIDER_FAILED', words: 'it wrote nothing.' }, task);
    if (fontProblem !== null) context.log.error({ problem: fontProblem }, 'fonts of this host cannot be read');
    if (missing.length === 0) return { done: inlineOutput(bytes) };
    const some = missing.slice(0, 10).join(' ');
    context.log.warn(
      { letters: some, file: task.fileId },
      'document has letters that no font has; set PDF_FONT_DIR to a folder of more fonts',
    );
    const all = missing.length > 10 ? `${some} and ${missing.length - 10} more` : some;
    return {
      done: inlineOutput(bytes),
      warnings: [`Letters without a font on this service are drawn as a box: ${all}`],
    };
  }

  return {
    provider: 'live',
    stages: () => ['submit', 'continue'],
    check: checkMaterial,

    async submit({ task, stage, signal, onProgress = () => {} }) {
      const prompt = replaceReferences(task, (position) => `attachment ${position}`);
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
      if (cut) throw toStepError(vendor, { type: 'PROVIDER_FAILED', words: 'the document is too long for it.' }, task);
      return made({ task, signal }, beginning + text);
    },

    poll: async () => ({ state: 'succeeded', output: {} }),

    probe: (signal) => probeOpenAi(vendor, client, [account.model], signal),

    download: writeInlineOutput,
  };
}
