import { INLINE_FORMS, mentionOf, type Person, withNames } from '@review/contract';
import type { ReactNode } from 'react';
import classes from './comment.module.css';

const Outside = ({ href, children }: { href: string; children: ReactNode }) => (
  <a href={href} target="_blank" rel="noreferrer">
    {children}
  </a>
);

type Forms = Record<string, string | undefined>;

interface CommentTextProps {
  text: string;
  /** The people whom the text mentions. */
  mentions: readonly Person[];
  /** The caller, whose mentions stand out. */
  me: string | null;
}

function Form({ forms, ...context }: { forms: Forms } & Omit<CommentTextProps, 'text'>) {
  const { mention, code, bold, star, line, label, target, bare } = forms;
  const named = (text: string) => withNames(text, context.mentions);
  if (mention !== undefined) {
    return (
      <span className={classes.mention} data-me={mention.toLowerCase() === context.me || undefined}>
        {named(mentionOf(mention))}
      </span>
    );
  }
  if (code !== undefined) return <code>{named(code)}</code>;
  if (target !== undefined) return <Outside href={target}>{named(label ?? '')}</Outside>;
  if (bare !== undefined) return <Outside href={bare}>{bare}</Outside>;
  const Emphasis = bold === undefined ? 'em' : 'strong';
  return (
    <Emphasis>
      <CommentText text={bold ?? star ?? line ?? ''} {...context} />
    </Emphasis>
  );
}

export function CommentText({ text, ...context }: CommentTextProps) {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE_FORMS)) {
    parts.push(text.slice(end, match.index), <Form key={match.index} forms={match.groups ?? {}} {...context} />);
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}
