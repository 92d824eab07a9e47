import type { Nodes, PhrasingContent, Root, RootContent, Table } from 'mdast';
import type { Content, ContentText, TableCell } from 'pdfmake/interfaces.js';
import { isDrawable } from './drawable.ts';
import type { Lettering } from './lettering.ts';
import { breakLongWords, stripFormatting } from './text.ts';

/** Deeper quotes and lists become plain text, because the page has no room to indent them. */
const MAX_DEPTH = 8;
/** Longer words are broken, because pdfmake measures a long word again for every line. */
const MAX_WORD = 60;

export const contentOf = (tree: Root, lettering: Lettering): Content[] => blocks(tree.children, 0, lettering);

const blocks = (nodes: readonly RootContent[], depth: number, lettering: Lettering): Content[] =>
  nodes.flatMap((node) => {
    const made = depth > MAX_DEPTH ? textBlock(plainText(node), lettering) : block(node, depth, lettering);
    return made === null ? [] : [made];
  });

function block(node: RootContent, depth: number, lettering: Lettering): Content | null {
  switch (node.type) {
    case 'heading':
      return { text: inline(node.children, {}, lettering), style: `heading${Math.min(3, node.depth)}` };
    case 'paragraph':
      return { text: inline(node.children, {}, lettering), style: 'block' };
    case 'blockquote':
      return { stack: blocks(node.children, depth + 1, lettering), style: 'quote', margin: [14, 0, 0, 6] };
    case 'list': {
      const items = node.children.map(({ checked, children }) => ({
        stack: [
          ...(typeof checked === 'boolean' ? [checked ? '☑' : '☐'] : []),
          ...blocks(children, depth + 1, lettering),
        ],
      }));
      const margin: [number, number, number, number] = [6, 0, 0, 6];
      return node.ordered ? { ol: items, start: node.start ?? 1, margin } : { ul: items, margin };
    }
    case 'table':
      return tableOf(node, lettering);
    case 'code':
      return codeOf(node.value, lettering);
    case 'html':
      return codeOf(node.value, lettering);
    case 'thematicBreak':
      return { canvas: [{ type: 'line', x1: 0, y1: 4, x2: 483, y2: 4, lineWidth: 0.5, lineColor: '#98a2b3' }] };
    case 'footnoteDefinition':
      return {
        stack: [textBlock(`[${node.identifier}]`, lettering), ...blocks(node.children, depth + 1, lettering)],
        fontSize: 8,
      };
    case 'definition':
    case 'yaml':
      return null;
    default:
      return textBlock(plainText(node), lettering);
  }
}

const textBlock = (text: string, lettering: Lettering): ContentText => ({
  text: letters(text, {}, lettering),
  style: 'block',
});

function tableOf({ children }: Table, lettering: Lettering): Content {
  const columns = Math.max(1, ...children.map((row) => row.children.length));
  const body = children.map((row, index) =>
    Array.from({ length: columns }, (_, column): TableCell => {
      const cell = row.children[column];
      return { text: cell ? inline(cell.children, {}, lettering) : '', bold: index === 0 };
    }),
  );
  return {
    table: { headerRows: 1, widths: Array.from({ length: columns }, () => '*'), body },
    layout: 'lightHorizontalLines',
    margin: [0, 0, 0, 8],
  };
}

/** Renders a code block. The fixed-width font is used only if it has every letter, because it covers fewer scripts. */
function codeOf(value: string, lettering: Lettering): Content {
  const text = stripFormatting(value);
  const fixed = isDrawable(text, 'DejaVuSansMono');
  const lines = breakLongWords(text, MAX_WORD, '\n')
    .split('\n')
    .map((line) => (fixed ? [{ text: line, font: 'DejaVuSansMono' }] : lettering.runs(line)));
  const body = lines.map((runs) => {
    const isEmpty = runs.every((run) => run.text === '');
    return [{ text: isEmpty ? ' ' : runs, style: 'code', preserveLeadingSpaces: true }];
  });
  return {
    table: { widths: ['*'], body },
    layout: CODE_LAYOUT,
    margin: [0, 0, 0, 8],
  };
}

const CODE_LAYOUT = {
  hLineWidth: () => 0,
  vLineWidth: () => 0,
  fillColor: () => '#f2f4f7',
  paddingLeft: () => 8,
  paddingRight: () => 8,
  paddingTop: () => 1,
  paddingBottom: () => 1,
};

/** The style of a run of text. */
type Manner = Omit<ContentText, 'text'>;

function inline(nodes: readonly PhrasingContent[], manner: Manner, lettering: Lettering): ContentText[] {
  return nodes.flatMap((node): ContentText[] => {
    switch (node.type) {
      case 'text':
      case 'html':
        return letters(node.value, manner, lettering);
      case 'inlineCode':
        return letters(node.value, { ...manner, background: '#f2f4f7' }, lettering);
      case 'strong':
        return inline(node.children, { ...manner, bold: true }, lettering);
      case 'emphasis':
        return inline(node.children, { ...manner, italics: true }, lettering);
      case 'delete':
        return inline(node.children, { ...manner, decoration: 'lineThrough' }, lettering);
      case 'break':
        return [{ text: '\n' }];
      case 'link':
        return inline(
          node.children,
          isWebAddress(node.url) ? { ...manner, style: 'link', link: node.url } : manner,
          lettering,
        );
      case 'linkReference':
        return inline(node.children, manner, lettering);
      default:
        return letters(plainText(node), manner, lettering);
    }
  });
}

const letters = (text: string, manner: Manner, lettering: Lettering): ContentText[] =>
  lettering
    .runs(text)
    .map((run) => ({ ...manner, text: breakLongWords(run.text, MAX_WORD, '\u200B'), font: run.font }));

const isWebAddress = (address: string): boolean => /^https?:\/\/[\x21-\x7E]+$/.test(address);

/** Iterative, because hostile Markdown can nest thousands of levels deep. */
function plainText(node: Nodes): string {
  const parts: string[] = [];
  const open: Nodes[] = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if ('value' in next) parts.push(next.value);
    else if ('alt' in next && next.alt) parts.push(next.alt);
    else if (next.type === 'footnoteReference') parts.push(`[${next.identifier}]`);
    if ('children' in next) open.push(...next.children.toReversed());
  }
  return parts.join(' ');
}
