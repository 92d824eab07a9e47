/**
 * The inline forms that comments use: mentions, and of Markdown code, bold, italics, links and bare addresses. Lines are kept
 * as they are written. The whole of Markdown is only for documents, because its parser is large.
 */
export const INLINE_FORMS =
  /<@(?<mention>[\da-fA-F-]{36})>|`(?<code>[^`\n]+)`|\*\*(?<bold>[^*\n]+)\*\*|(?<![\w*])\*(?<star>[^*\s][^*\n]*)\*(?![\w*])|(?<!\w)_(?<line>[^_\s][^_\n]*)_(?!\w)|\[(?<label>[^[\]\n]+)\]\((?<target>https?:\/\/[^\s)]+)\)|(?<bare>https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]])/g;

/** The text of a comment without its marks. A link is its label with the address behind it. */
export const withoutMarks = (text: string): string =>
  text.replace(INLINE_FORMS, (whole, ...found: unknown[]) => {
    const { code, bold, star, line, label, target }: Record<string, string | undefined> = Object(found.at(-1));
    if (code !== undefined) return code;
    if (target !== undefined) return label === target ? target : `${withoutMarks(label ?? '')} (${target})`;
    const emphasized = bold ?? star ?? line;
    return emphasized === undefined ? whole : withoutMarks(emphasized);
  });
