import type { WorkerTask } from '@review/contract';
import type { ChatCompletionContentPart } from 'openai/resources/chat/completions';
import { readable } from '../documents/text.ts';
import { StepError } from '../step-error.ts';
import type { Call } from './family.ts';
import { dataUri, type PictureLimits, type Reference, readPictures, readReferences } from './references.ts';

const MEGABYTE = 1024 * 1024;
const MOST_BYTES = 20 * MEGABYTE;
const PICTURES: PictureLimits = {
  types: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
  mostBytes: MOST_BYTES,
};

type Attachment = WorkerTask['attachments'][number];
type Kind = 'picture' | 'pdf' | 'text';

function kindOf(mimeType: string): Kind | null {
  if (mimeType.startsWith('image/')) return 'picture';
  if (mimeType === 'application/pdf') return 'pdf';
  return /^text\/|^application\/(.*\+)?(json|xml|yaml)$/.test(mimeType) ? 'text' : null;
}

/** Refuses what a language model cannot read, before anything is asked of it. */
export function checkMaterial({ attachments }: Pick<WorkerTask, 'attachments'>): void {
  for (const { id, content } of attachments) {
    if (content === null || kindOf(content.mimeType) !== null) continue;
    const taken = 'a document can be made of texts, pictures and PDFs.';
    throw new StepError('INVALID_INPUT', `The attachment ${id} is ${content.mimeType}; ${taken}`);
  }
  if (attachments.reduce((sum, { content }) => sum + (content?.size ?? 0), 0) > MOST_BYTES) {
    const most = `${MOST_BYTES / MEGABYTE} MB`;
    throw new StepError('INVALID_INPUT', `The attachments of a document have at most ${most} together.`);
  }
}

/** The attachments as a language model reads them, each under the name by which the prompt speaks of it. */
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
  const name = readable(reference.name).replace(/[\s`]+/g, ' ');
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
    throw new StepError('INVALID_INPUT', `The attachment ${id} cannot be read as text.`);
  }
}

/** In a fence that nothing in the text can close. */
function fenced(text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${readable(text)}\n${fence}`;
}
