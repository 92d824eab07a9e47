import type { Nodes } from 'mdast';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { sanitizeText } from './text.ts';

const parse = (text: string) => unified().use(remarkParse).use(remarkGfm).parse(text);

/** Removes the enclosing code fence, the reasoning, images and HTML from a language model's answer. */
export function cleanMarkdown(answer: string): string {
  const text = unfenced(withoutBlankEnds(withoutThoughts(sanitizeText(answer))));
  return `${withoutBlankEnds(withoutForeign(text))}\n`;
}

const withoutBlankEnds = (text: string): string => text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();

/** Some models write their reasoning before the answer. */
const withoutThoughts = (text: string): string => text.replace(/^\s*<think>[\s\S]*?<\/think>/, '');

/** Models often wrap the whole answer in a fence, although the prompt forbids it. */
function unfenced(text: string): string {
  const [, , named] = text.match(/^(`{3,}|~{3,})(?:markdown|md)[ \t]*\n([\s\S]*?)\n?\1$/i) ?? [];
  if (named !== undefined) return named;
  if (!/^[`~]/.test(text)) return text;
  const [only, ...others] = parse(text).children;
  return only?.type === 'code' && !only.lang && others.length === 0 ? only.value : text;
}

const MAX_ROUNDS = 10;

/** Repeats until nothing changes, because a removal can join text into new markup. */
function withoutForeign(text: string): string {
  let clean = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    // Skips the parser where it is not needed: a long text takes seconds.
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

/** Lists the edits in text order. Iterative, because hostile Markdown can nest thousands of levels deep. */
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

/** A `<` after an even number of backslashes, which escape each other. */
const UNESCAPED = /(?<=(?:^|[^\\])(?:\\\\)*)</g;

const escaped = (text: string): string => text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>&|~]/g, '\\$&');

/** Returns the text of the first heading. */
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
