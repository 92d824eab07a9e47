import type { ReactNode } from 'react';

/**
 * The inline forms of Markdown that comments use: code, bold, italics, links and bare addresses. Lines are kept as they are
 * written. The whole of Markdown is only for documents, because its parser is large.
 */
const INLINE =
  /`(?<code>[^`\n]+)`|\*\*(?<bold>[^*\n]+)\*\*|(?<![\w*])\*(?<star>[^*\s][^*\n]*)\*(?![\w*])|(?<!\w)_(?<line>[^_\s][^_\n]*)_(?!\w)|\[(?<label>[^\]\n]+)\]\((?<target>https?:\/\/[^\s)]+)\)|(?<bare>https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]])/g;

const Outside = ({ href, children }: { href: string; children: ReactNode }) => (
  <a href={href} target="_blank" rel="noreferrer">
    {children}
  </a>
);

function marked({ code, bold, star, line, label, target, bare }: Record<string, string | undefined>, key: number) {
  if (code !== undefined) return <code key={key}>{code}</code>;
  if (bold !== undefined) return <strong key={key}>{bold}</strong>;
  if (target !== undefined) {
    return (
      <Outside key={key} href={target}>
        {label}
      </Outside>
    );
  }
  if (bare !== undefined) {
    return (
      <Outside key={key} href={bare}>
        {bare}
      </Outside>
    );
  }
  return <em key={key}>{star ?? line}</em>;
}

export function CommentText({ text }: { text: string }) {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    parts.push(text.slice(end, match.index), marked(match.groups ?? {}, match.index));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}
