import { writeFile } from 'node:fs/promises';
import type { PhrasingContent, Root, RootContent, TableRow } from 'mdast';
import remarkGfm from 'remark-gfm';
import remarkStringify from 'remark-stringify';
import { unified } from 'unified';
import { sanitizeText, truncate, wordsOf } from '../documents/text.ts';
import { type Chance, chanceOf } from './chance.ts';
import { type Maker, modelTitle, type SandboxRequest } from './request.ts';

export const makeMarkdown: Maker = async (request, path) => {
  await writeFile(path, markdownOf(request));
};

/** A fixed date, so that the same request always makes the same bytes. */
const ALWAYS = new Date('2026-01-01T00:00:00Z');

export const makePdf: Maker = async (request, path, task) => {
  const { pdfOf } = await import('../documents/pdf.ts');
  const markdown = markdownOf(request);
  task.progress(0.1);
  const { bytes } = await pdfOf(markdown, { title: titleOf(request), writtenAt: ALWAYS });
  await writeFile(path, bytes);
};

/** Serialized from a syntax tree, so that prompts and names cannot inject markup. */
const markdownOf = (request: SandboxRequest): string =>
  unified().use(remarkGfm).use(remarkStringify, { bullet: '-', fences: true }).stringify(documentOf(request));

function documentOf(request: SandboxRequest): Root {
  const chance = chanceOf(request, 'document');
  const prompt = sanitizeText(request.prompt);
  const words = wordsOf(prompt);
  const terms = termsOf(words);
  return {
    type: 'root',
    children: [
      heading(1, titleOf(request)),
      paragraph(plain(`Made by the sandbox provider in place of ${modelTitle(request)}.`)),
      heading(2, 'What was asked'),
      { type: 'code', lang: 'text', value: prompt },
      heading(2, 'Summary'),
      paragraph(
        plain(`The request has ${count(words.length, 'word')} and turns on `),
        ...joined(terms.map(({ word }) => word)),
        plain(`. ${chance.pick(OPENINGS)}`),
      ),
      ...terms.flatMap((term) => sectionOf(term, terms, chance)),
      heading(2, 'Terms at a glance'),
      {
        type: 'table',
        align: ['left', 'right', 'right', 'left'],
        children: [
          row('Term', 'Mentions', 'First at word', 'Priority'),
          ...terms.map(({ word, mentions, first }) =>
            row(word, String(mentions), first === null ? 'none' : String(first), chance.pick(PRIORITIES)),
          ),
        ],
      },
      heading(2, 'References'),
      request.references.length === 0
        ? paragraph(plain('No references were attached.'))
        : list(request.references.map(({ name }) => sanitizeText(name).replace(/\s+/g, ' '))),
    ],
  };
}

const titleOf = ({ prompt }: SandboxRequest): string => {
  const words = wordsOf(sanitizeText(prompt)).slice(0, 9).join(' ');
  return words === '' ? 'Untitled document' : truncate(words, 80);
};

interface Term {
  word: string;
  mentions: number;
  /** Counted from 1; null if the prompt has no words. */
  first: number | null;
}

/** Returns the most frequent words, the longest first among equals. */
function termsOf(words: readonly string[]): Term[] {
  const found = new Map<string, Term>();
  for (const [index, word] of words.entries()) {
    const key = word.toLowerCase();
    const known = found.get(key);
    if (known) known.mentions += 1;
    else found.set(key, { word: truncate(word, 32), mentions: 1, first: index + 1 });
  }
  const terms = [...found.values()];
  const telling = terms.filter(({ word }) => word.length > 3);
  const best = (telling.length > 0 ? telling : terms).sort(byWeight).slice(0, 4);
  return best.length > 0 ? best : [{ word: 'Subject', mentions: 0, first: null }];
}

const byWeight = (a: Term, b: Term): number => b.mentions - a.mentions || b.word.length - a.word.length;

function sectionOf(term: Term, terms: readonly Term[], chance: Chance): RootContent[] {
  const other = terms[chance.whole(0, terms.length - 1)] ?? term;
  return [
    heading(2, capitalised(term.word)),
    paragraph(strong(capitalised(term.word)), plain(` ${chance.pick(STATEMENTS)} ${chance.pick(CONSEQUENCES)}`)),
    list([
      chance.pick(ACTIONS)(term.word),
      other === term
        ? `Name one owner for “${term.word}”.`
        : `Put “${term.word}” beside “${other.word}”, and keep what both need.`,
      `Look at it again after ${chance.whole(2, 10)} days.`,
    ]),
  ];
}

const OPENINGS = [
  'The sections below take each term in turn.',
  'Each of them has a section of its own, then a table puts them side by side.',
  'What follows is a first draft, made to be commented on.',
] as const;
const STATEMENTS = [
  'is where a reader will look first.',
  'carries most of the weight of the request.',
  'sets the tone for everything around it.',
  'is the part that is easiest to misread.',
] as const;
const CONSEQUENCES = [
  'State it early and in one sentence.',
  'Show one example before any rule.',
  'Leave out what does not serve it.',
  'Check it against the references before the next version.',
] as const;
const ACTIONS = [
  (word: string) => `Describe what “${word}” has to show.`,
  (word: string) => `Sketch two ways to treat “${word}”.`,
  (word: string) => `Agree how “${word}” will be judged.`,
] as const;
const PRIORITIES = ['high', 'medium', 'low'] as const;

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const plain = (value: string): PhrasingContent => ({ type: 'text', value });
const strong = (value: string): PhrasingContent => ({ type: 'strong', children: [plain(value)] });
const joined = (words: readonly string[]): PhrasingContent[] =>
  words.flatMap((word, index) => (index === 0 ? [strong(word)] : [plain(', '), strong(word)]));
const heading = (depth: 1 | 2, text: string): RootContent => ({ type: 'heading', depth, children: [plain(text)] });
const paragraph = (...children: PhrasingContent[]): RootContent => ({ type: 'paragraph', children });
const row = (...cells: string[]): TableRow => ({
  type: 'tableRow',
  children: cells.map((cell) => ({ type: 'tableCell', children: [plain(cell)] })),
});
const list = (items: readonly string[]): RootContent => ({
  type: 'list',
  spread: false,
  children: items.map((item) => ({
    type: 'listItem',
    spread: false,
    children: [{ type: 'paragraph', children: [plain(item)] }],
  })),
});
