import type { WorkerTask } from '@review/contract';
import type { ChatCompletionContentPart } from 'openai/resources/chat/completions';
import { sanitizeText } from '../documents/text.ts';
import { StepError } from '../step-error.ts';
import type { Call } from './family.ts';
import { dataUri, type PictureLimits, type Reference, readPictures, readReferences } from './references.ts';

const MEGABYTE = 1024 * 1024;
const MAX_BYTES = 20 * MEGABYTE;
const PICTURES: PictureLimits = {
  types: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
  maxBytes: MAX_BYTES,
};

type Attachment = WorkerTask['attachments'][number];
type Kind = 'picture' | 'pdf' | 'text';

function kindOf(mimeType: string): Kind | null {
  if (mimeType.startsWith('image/')) return 'picture';
  if (mimeType === 'application/pdf') return 'pdf';
  return /^text\/|^application\/(.*\+)?(json|xml|yaml)$/.test(mimeType) ? 'text' : null;
}

/** Throws INVALID_INPUT for attachments that a language model cannot read. */
export function checkMaterial({ attachments }: Pick<WorkerTask, 'attachments'>): void {
  for (const { id, content } of attachments) {
    if (content === null || kindOf(content.mimeType) !== null) continue;
    const taken = 'documents accept texts, pictures and PDFs.';
    throw new StepError('INVALID_INPUT', `The attachment ${id} is ${content.mimeType}; ${taken}`);
  }
  if (attachments.reduce((sum, { content }) => sum + (content?.size ?? 0), 0) > MAX_BYTES) {
    const max = `${MAX_BYTES / MEGABYTE} MB`;
    throw new StepError('INVALID_INPUT', `The attachments of a document may have at most ${max} in total.`);
  }
}

/** Returns the attachments as message parts, each labelled with the name that the prompt uses. */
export async function materialOf({ task, signal }: Call): Promise<ChatCompletionContentPart[]> {
  const parts = await Promise.all(task.attachments.map((attachment) => partOf(attachment, { task, signal })));
  return parts.flatMap((own, index) => own(`attachment ${index + 1}`));
}

async function partOf(
  attachment: Attachment,
  { task, signal }: Call,
): Promise<(label: string) => ChatCompletionContentPart[]> {
  const alone = { task: { ...task, attachments: [attachment] }, signal };
  const kind = kindOf(attachment.content?.mimeType ?? '');
  const [reference] =
    kind === 'picture' ? await readPictures(alone, 'a document', PICTURES) : await readReferences(alone);
  if (reference === undefined) return () => [];
  const name = sanitizeText(reference.name).replace(/[\s`]+/g, ' ');
  if (kind === 'text') {
    const text = fenced(textOf(reference));
    return (label) => [{ type: 'text', text: `${label}, ${name}:\n\n${text}` }];
  }
  const content: ChatCompletionContentPart =
    kind === 'pdf'
      ? { type: 'file', file: { filename: name, file_data: dataUri(reference) } }
      : { type: 'image_url', image_url: { url: dataUri(reference) } };
  return (label) => [{ type: 'text', text: `${label}, ${name}:` }, content];
}

function textOf({ id, bytes }: Reference): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new StepError('INVALID_INPUT', `The attachment ${id} is not valid UTF-8 text.`);
  }
}

/** Wraps the text in a code fence that is longer than any run of backticks in it. */
function fenced(text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${sanitizeText(text)}\n${fence}`;
}
