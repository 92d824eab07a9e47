import type { Nodes } from 'mdast';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { readable } from './text.ts';

const parse = (text: string) => unified().use(remarkParse).use(remarkGfm).parse(text);

/** A language model's answer as a document: out of its fence, without pictures from elsewhere and without HTML. */
export function tidied(answer: string): string {
  const text = unfenced(withoutBlankEnds(withoutThoughts(readable(answer))));
  return `${withoutBlankEnds(withoutForeign(text))}\n`;
}

const withoutBlankEnds = (text: string): string => text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();

/** Some models think aloud before they write. */
const withoutThoughts = (text: string): string => text.replace(/^\s*<think>[\s\S]*?<\/think>/, '');

/** What was asked for without a fence often comes in one. */
function unfenced(text: string): string {
  const [, , named] = text.match(/^(`{3,}|~{3,})(?:markdown|md)[ \t]*\n([\s\S]*?)\n?\1$/i) ?? [];
  if (named !== undefined) return named;
  if (!/^[`~]/.test(text)) return text;
  const [only, ...others] = parse(text).children;
  return only?.type === 'code' && !only.lang && others.length === 0 ? only.value : text;
}

const MOST_ROUNDS = 10;

/** Until nothing is left: what one round takes away may let the next one see more. */
function withoutForeign(text: string): string {
  let clean = text;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    // A long text takes seconds to take apart.
    if (!/<|!\[/.test(clean)) return clean;
    const edits = foreignIn(clean);
    if (edits.length === 0) return clean;
    for (const { start, end, instead } of edits.toReversed()) {
      clean = clean.slice(0, start) + instead + clean.slice(end);
    }
  }
  return clean.replace(/<|!(?=\[)/g, '\\$&');
}

interface Edit {
  start: number;
  end: number;
  instead: string;
}

/** In the order of the text. Without recursion: a hostile text may nest its marks thousands deep. */
function foreignIn(text: string): Edit[] {
  const edits: Edit[] = [];
  const open: Nodes[] = [parse(text)];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const instead = insteadOf(node);
    const [start, end] = [node.position?.start.offset, node.position?.end.offset];
    if (instead !== null && start !== undefined && end !== undefined) edits.push({ start, end, instead });
    if ('children' in node) open.push(...node.children.toReversed());
  }
  return edits;
}

function insteadOf(node: Nodes): string | null {
  if (node.type === 'image' || node.type === 'imageReference') return escaped(node.alt ?? '');
  if (node.type !== 'html') return null;
  return /^<br\s*\/?>$/i.test(node.value) ? ' ' : node.value.replace(UNESCAPED, '\\<');
}

/** After an even number of backslashes, which only escape each other. */
const UNESCAPED = /(?<=(?:^|[^\\])(?:\\\\)*)</g;

const escaped = (text: string): string => text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>&|~]/g, '\\$&');

/** What the first heading says. */
export function titleOf(markdown: string): string | null {
  const heading = parse(markdown.slice(0, 5000)).children.find((node) => node.type === 'heading');
  if (heading === undefined) return null;
  const words: string[] = [];
  const open: Nodes[] = [heading];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ('value' in node) words.push(node.value);
    if ('children' in node) open.push(...node.children.toReversed());
  }
  return words.join('').trim() || null;
}
