import type { Element, Root, RootContent } from 'hast';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRehype from 'remark-rehype';
import { unified } from 'unified';

/** The parsed tree, or null where rendering it would block the page. */
export type Parsed = Root | null;

const MAX_NODES = 30_000;
const MAX_DEPTH = 100;

const markdown = unified().use(remarkParse).use(remarkGfm).use(remarkRehype, { allowDangerousHtml: true });

addEventListener('message', ({ data }: MessageEvent<string>) => {
  const tree = markdown.runSync(markdown.parse(data));
  postMessage(isWithinLimits(tree) ? ({ ...tree, children: tree.children.map(sanitize) } satisfies Parsed) : null);
});

function isWithinLimits(tree: Root): boolean {
  let nodes = 0;
  let level: readonly RootContent[] = tree.children;
  for (let depth = 0; level.length > 0; depth++) {
    nodes += level.length;
    if (depth > MAX_DEPTH || nodes > MAX_NODES) return false;
    level = level.flatMap((node) => (node.type === 'element' ? node.children : []));
  }
  return true;
}

/** Turns HTML into text and removes URLs with executable schemes. */
function sanitize<Node extends RootContent>(node: Node): Node | Element | { type: 'text'; value: string } {
  if (node.type === 'raw') return { type: 'text', value: node.value };
  if (node.type !== 'element') return node;
  const properties = { ...node.properties };
  for (const name of ['href', 'src']) if (name in properties) properties[name] = safeAddress(String(properties[name]));
  return { ...node, properties, children: node.children.map(sanitize) };
}

const safeAddress = (address: string): string => (/^(https?:|mailto:|[^:]*$|[^:]*[/?#])/i.test(address) ? address : '');
