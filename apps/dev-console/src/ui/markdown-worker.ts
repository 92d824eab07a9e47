import type { Element, Root, RootContent } from 'hast';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRehype from 'remark-rehype';
import { unified } from 'unified';

/** What the worker makes of a text: a tree to draw, or null where drawing it would hold up the page. */
export type Parsed = Root | null;

const MOST_NODES = 30_000;
const MOST_DEPTH = 100;

const markdown = unified().use(remarkParse).use(remarkGfm).use(remarkRehype, { allowDangerousHtml: true });

addEventListener('message', ({ data }: MessageEvent<string>) => {
  const tree = markdown.runSync(markdown.parse(data));
  postMessage(isModest(tree) ? ({ ...tree, children: tree.children.map(harmless) } satisfies Parsed) : null);
});

function isModest(tree: Root): boolean {
  let nodes = 0;
  let level: readonly RootContent[] = tree.children;
  for (let depth = 0; level.length > 0; depth++) {
    nodes += level.length;
    if (depth > MOST_DEPTH || nodes > MOST_NODES) return false;
    level = level.flatMap((node) => (node.type === 'element' ? node.children : []));
  }
  return true;
}

/** HTML stays text, and an address that would run something is dropped. */
function harmless<Node extends RootContent>(node: Node): Node | Element | { type: 'text'; value: string } {
  if (node.type === 'raw') return { type: 'text', value: node.value };
  if (node.type !== 'element') return node;
  const properties = { ...node.properties };
  for (const name of ['href', 'src']) if (name in properties) properties[name] = safeAddress(String(properties[name]));
  return { ...node, properties, children: node.children.map(harmless) };
}

const safeAddress = (address: string): string => (/^(https?:|mailto:|[^:]*$|[^:]*[/?#])/i.test(address) ? address : '');
